"""A loop that is completed: what a process that died then left is put away, and later commits may have broken it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.app.run_place import remove_worktrees
from aotloop.app.verify import verify
from aotloop.config.schema import Config
from aotloop.core.checklist import JUDGED
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.conversation import remove_conversations
from aotloop.execution.journal import Journal
from aotloop.git.command import head_of
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust.verdicts import is_backed


def tidy_up(store: Store, config: Config, loop: Loop) -> None:
    """After a process that died when everything but this was done."""
    if loop.control.run_id is not None:
        kill_orphans(loop.control.run_id)
        remove_conversations(Journal(Path(project_root(store.path))).sittings_folder(loop.control.run_id))
    with suppress(AotError):  # it is completed all the same
        remove_worktrees(store, config)


def broken_since(store: Store, config: Config, loop: Loop) -> str | None:
    """Why a completed loop is not done; None: it is. Later commits, and a file without our record, are tried again."""
    verdict = loop.control.verdict
    is_known = is_backed(store.path, loop)
    if is_known and verdict is not None and verdict.commit in (None, head_of(Path(project_root(store.path)))):
        return None
    report = verify(store, timeout=config.check_timeout, record=False).report
    is_doubted = any(result.kind not in JUDGED for result in report.waiting.values())
    if report.passed or (report.undecided and is_known and not is_doubted):
        return None
    failing = ", ".join({**report.failing, **report.waiting})
    if is_known and is_doubted:
        told = "; ".join(f"{name} {result.evidence}" for name, result in report.waiting.items())
        return f"blocked: it is not known whether later commits broke what was completed: {told}"
    if is_known:
        return f"blocked: later commits broke what was completed: {failing}"
    return f"blocked: the file says that the loop is completed, but the base case does not hold: {failing}"
