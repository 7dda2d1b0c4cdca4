"""A loop that is completed: what a process that died then left is put away, and later commits may have broken it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.app.run_place import remove_worktrees
from aotloop.app.verify import verify
from aotloop.config.schema import Config
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.conversation import remove_conversations
from aotloop.execution.journal import Journal
from aotloop.git.command import head_of
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store


def tidy_up(store: Store, config: Config, loop: Loop) -> None:
    """After a process that died when everything but this was done."""
    if loop.control.run_id is not None:
        kill_orphans(loop.control.run_id)
        remove_conversations(Journal(Path(project_root(store.path))).sittings_folder(loop.control.run_id))
    with suppress(AotError):  # it is completed all the same
        remove_worktrees(store, config)


def broken_since(store: Store, config: Config, loop: Loop) -> str | None:
    """Why a completed loop is not done any more; None: it is. It is tried again only after later commits."""
    verdict = loop.control.verdict
    root = Path(project_root(store.path))
    if verdict is None or verdict.commit is None or head_of(root) == verdict.commit:
        return None
    report = verify(store, timeout=config.check_timeout, record=False).report
    if report.passed or report.undecided:
        return None
    return f"blocked: later commits broke what was completed: {', '.join(report.failing)}"
