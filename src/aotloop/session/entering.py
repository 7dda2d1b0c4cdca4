"""A session takes a loop into its hands: gate, consent, red first; then the loop runs and is bound to the session.

The lease of a run is held meanwhile, so that neither `aot run` nor another session does the same at the same time.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop import app
from aotloop.core import events
from aotloop.core.gate import Gate, gate_of
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import Control, Loop
from aotloop.core.objective import digest_of
from aotloop.core.sessions import holding_session
from aotloop.errors import AotError, StateFileInvalid, Unavailable
from aotloop.session.consent import only_accepted, require_acceptance
from aotloop.session.judging import judge_of
from aotloop.session.places import work_in_progress
from aotloop.session.typed import to_type
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agree, agreed, difference

_MOST_SHOWN = 8


class Entered(msgspec.Struct, frozen=True, kw_only=True):
    status: str
    run_id: str | None
    was_running: bool = False
    """In the hands of this session, as a hook may have seen to: nothing was left to do."""
    holding: tuple[str, ...] = ()
    """Items of the base case that hold before any work: perhaps they say nothing."""
    failing: dict[str, str] = {}
    waiting: dict[str, str] = {}
    warnings: tuple[str, ...] = ()


def enter(store: Store, session: str, *, take_over: bool = False, timeout: float = app.CHECK_TIMEOUT) -> Entered:
    with lease(store.path, "run", since=app.now()):
        loop = store.load()
        _refuse_other_session(loop, session, take_over=take_over)
        gate = _opened(store, loop)
        _require_agreement(store, loop)
        require_acceptance(store, loop)
        if holding_session(loop.control) == session and loop.control.run_id is not None:
            return Entered(status="running", run_id=loop.control.run_id, was_running=True, warnings=gate.warnings)
        done = app.verify(store, timeout=timeout, permit=only_accepted(store), judge=judge_of(store))
        control = store.update(lambda now: _start(now, session, done, take_over=take_over))
        with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the loop
            agree(store.path, loop.objective)
    return Entered(
        status=control.status,
        run_id=control.run_id,
        holding=tuple(done.report.holding),
        failing={path: result.evidence for path, result in done.report.failing.items()},
        waiting={path: result.evidence for path, result in done.report.waiting.items()},
        warnings=(*gate.warnings, *_uncommitted(store)),
    )


def _start(loop: Loop, session: str, done: app.Verification, *, take_over: bool) -> Control:
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


def _opened(store: Store, loop: Loop) -> Gate:
    """A loop that is running though nobody runs it crashed: it is entered like one that was stopped."""
    waiting = loop.snapshot()
    if loop.control.status == "running":
        waiting.control = replace(loop.control, status="stopped")
    gate = gate_of(waiting, findings_of(loop))
    if not gate.ready:
        raise StateFileInvalid(f"{store.path}: the loop cannot start; missing: {'; '.join(gate.missing)}")
    return gate


def _require_agreement(store: Store, loop: Loop) -> None:
    before = agreed(store.path)
    lines = difference(before, loop.objective) if before is not None else []
    if lines and loop.control.status != "pending":
        shown = "; ".join(lines[:_MOST_SHOWN]) + (" …" if len(lines) > _MOST_SHOWN else "")
        raise AotError(
            f"the objective was changed behind the loop's back: {shown}",
            hint="A person takes it with `aot redirect --accept` in a terminal; or change it back.",
        )


def _uncommitted(store: Store) -> tuple[str, ...]:
    paths = work_in_progress(store.path, Path(project_root(store.path)))
    if not paths:
        return ()
    shown = ", ".join(paths[:_MOST_SHOWN]) + (" …" if len(paths) > _MOST_SHOWN else "")
    return (f"not committed, so agents in worktrees do not see it: {shown}",)
