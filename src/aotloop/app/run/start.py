"""Takes a loop to its end, one process at a time. It first checks all that must be true before a run."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path

from aotloop.app.overview.loop_registry import register
from aotloop.app.preflight.agents import refuse_without_agents
from aotloop.app.preflight.agreement import remember_agreement, require_agreement
from aotloop.app.preflight.gate import leave_session, require_open_gate
from aotloop.app.preflight.workplace import refuse_other_history
from aotloop.app.run.launch import Launch, RunOptions
from aotloop.app.run.run_isolation import ended_with_run, isolation_of, remove_worktrees
from aotloop.app.verify import verify
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.core.checks.checklist import JUDGED
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution import run_events
from aotloop.execution.attempts.conversation import remove_conversations
from aotloop.execution.journals.journal import Journal
from aotloop.execution.observer import Observer
from aotloop.git.command import head_of
from aotloop.process.process_group import kill_orphans
from aotloop.runner.runner import Ending
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust.verdicts import is_backed


def run_loop(store: Store, config: Config, options: RunOptions, observer: Observer) -> Ending:
    with lease(store.path, "run", since=now()) as held:
        loop = store.load()
        register(store.path)
        if loop.control.status == "completed":
            return _completed(store, config, loop, observer)
        require_open_gate(store, loop)
        loop = leave_session(store, loop, take_over=options.take_over)
        refuse_without_agents(loop, config)
        require_agreement(store, loop, in_place=config.isolation == "none")
        remember_agreement(store, loop.objective)
        run_id = _run_id(loop)
        kill_orphans(run_id)
        isolation = isolation_of(
            store, loop.objective.protect, config, run_id, options.branch, detached=options.detached
        )
        with ended_with_run(run_id, isolation):
            if isolation.branch is not None:
                refuse_other_history(loop, isolation.branch.repository)
            return Launch(store, config, options, observer, isolation, run_id, held).run(loop)


def _run_id(loop: Loop) -> str:
    """A loop keeps its id from its first start until it is aligned again: commits and processes carry it."""
    known = loop.control.run_id
    return known if known is not None and loop.control.status != "pending" else uuid.uuid4().hex[:12]


def _completed(store: Store, config: Config, loop: Loop, observer: Observer) -> Ending:
    """The end of a run of a loop that was completed before. Later commits may have broken it."""
    _tidy_up(store, config, loop)
    broken = _broken_since(store, config, loop)
    if broken is None:
        return Ending(loop=loop, status="completed", reason=None, worked=False)
    observer.open(loop.snapshot())
    observer.news(run_events.RunEnded(at=now(), status="stopped", reason=broken, worked=False))
    observer.close()
    return Ending(loop=loop, status="stopped", reason=broken, worked=False)


def _tidy_up(store: Store, config: Config, loop: Loop) -> None:
    """Removes what a process left that died after everything else was done."""
    if loop.control.run_id is not None:
        kill_orphans(loop.control.run_id)
        remove_conversations(Journal(Path(project_root(store.path))).sittings_folder(loop.control.run_id))
    with suppress(AotError):  # it is completed all the same
        remove_worktrees(store, config)


def _broken_since(store: Store, config: Config, loop: Loop) -> str | None:
    """Why a completed loop is not done; None: it is done. Checked after later commits, or without our record."""
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
        reasons = "; ".join(f"{name} {result.evidence}" for name, result in report.waiting.items())
        return f"blocked: it is not known whether later commits broke what was completed: {reasons}"
    if is_known:
        return f"blocked: later commits broke what was completed: {failing}"
    return f"blocked: the file says that the loop is completed, but the base case does not hold: {failing}"
