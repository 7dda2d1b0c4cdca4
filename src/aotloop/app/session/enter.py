"""A session takes over a loop: gate, consent, red first. Then the loop runs and is bound to the session.

The lease of a run is held meanwhile, so that neither `aot run` nor another session does the same at the same time.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import msgspec

from aotloop.app.loops import CHECK_TIMEOUT
from aotloop.app.overview.loop_registry import register
from aotloop.app.preflight.agreement import remember_agreement, require_agreement
from aotloop.app.preflight.consent import require_acceptance
from aotloop.app.preflight.gate import require_open_gate
from aotloop.app.session.integration.checkout import work_in_progress
from aotloop.app.session.session_verification import verify_in_session
from aotloop.app.slash_commands import to_type
from aotloop.app.verify import Verification
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.handlers.status import holding_session
from aotloop.core.machine import advance
from aotloop.core.model import Control, Loop
from aotloop.core.objective import digest_of
from aotloop.errors import AotError
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed


class Entered(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    run_id: str | None
    was_running: bool = False
    """This session had the loop already, for example by a hook: nothing was left to do."""
    holding: tuple[str, ...] = ()
    """Items of the base case that hold before any work: they may prove nothing."""
    failing: dict[str, str] = {}
    waiting: dict[str, str] = {}
    warnings: tuple[str, ...] = ()


def enter(store: Store, session: str, *, take_over: bool = False, timeout: float = CHECK_TIMEOUT) -> Entered:
    with lease(store.path, "run", since=now()):
        loop = store.load()
        register(store.path)
        _refuse_other_session(loop, session, take_over=take_over)
        gate = require_open_gate(store, loop)
        require_agreement(store, loop)
        require_acceptance(store, loop)
        if holding_session(loop.control) == session and loop.control.run_id is not None:
            return Entered(status="running", run_id=loop.control.run_id, was_running=True, warnings=gate.warnings)
        done = verify_in_session(store, timeout=timeout)
        control = store.update(lambda now: _start(now, session, done, take_over=take_over))
        remember_agreement(store, loop.objective)
    return Entered(
        status=control.status,
        run_id=control.run_id,
        holding=tuple(done.report.holding),
        failing={path: result.evidence for path, result in done.report.failing.items()},
        waiting={path: result.evidence for path, result in done.report.waiting.items()},
        warnings=(*gate.warnings, *_uncommitted(store)),
    )


def _start(loop: Loop, session: str, done: Verification, *, take_over: bool) -> Control:
    known = loop.control.run_id if loop.control.status != "pending" else None
    advance(loop, events.SessionBound(session_id=session, take_over=take_over))
    run_id = known or uuid.uuid4().hex[:12]
    advance(loop, events.LoopStarted(run_id=run_id, objective_digest=digest_of(loop.objective)))
    if done.report.passed:
        advance(loop, events.LoopCompleted(commit=done.verdict.commit))
    return loop.control


def _refuse_other_session(loop: Loop, session: str, *, take_over: bool) -> None:
    holder = holding_session(loop.control)
    if holder not in (None, session) and not take_over:
        raise AotError(
            f"another session ({holder}) drives this loop",
            hint=f"If that one is over, the person types {to_type('take-over')} here.",
        )


def _uncommitted(store: Store) -> tuple[str, ...]:
    paths = work_in_progress(store.path, Path(project_root(store.path)))
    if not paths:
        return ()
    return (f"not committed, so agents in worktrees do not see it: {listed(paths)}",)
