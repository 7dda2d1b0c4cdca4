"""Transitions of a phase loop: these tables alone decide which phase and which status follow.

    brainstorm ▶ plan ▶ spec_test ▶ deepen ▶ work ▶ review ──────────────────▶ compound ▶ test ▶ ship
                                                      └▶ fix ▶ re_review ─────▲
                                                          ▲────────┘ findings

A step without a row is impossible. Nothing forces the loop out of spec_test or ship; there it stops instead.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from aotloop.core.phases.effects import Enter, PhaseEffect, Stop
from aotloop.core.phases.events import PhaseEvent
from aotloop.core.phases.model import ErrorRecord, Phase, PhaseLoop, Status
from aotloop.errors import IllegalEvent

Outcome = Literal["done", "findings", "forced"]
"""findings: the phase is done, but some findings are left to fix."""

Move = Literal["work", "wait", "answer", "stop", "resume", "complete", "cancel"]

FOLLOWS: dict[tuple[Phase, Outcome], Phase] = {
    ("brainstorm", "done"): "plan",
    ("brainstorm", "forced"): "plan",
    ("plan", "done"): "spec_test",
    ("plan", "forced"): "spec_test",
    ("spec_test", "done"): "deepen",
    ("deepen", "done"): "work",
    ("deepen", "forced"): "work",
    ("work", "done"): "review",
    ("work", "forced"): "review",
    ("review", "done"): "compound",
    ("review", "findings"): "fix",
    ("review", "forced"): "compound",
    ("fix", "done"): "re_review",
    ("fix", "forced"): "re_review",
    ("re_review", "done"): "compound",
    ("re_review", "findings"): "fix",
    ("re_review", "forced"): "compound",
    ("compound", "done"): "test",
    ("compound", "forced"): "test",
    ("test", "done"): "ship",
    ("test", "forced"): "ship",
}

FORCED_ONLY_IF_TESTS_PASS: frozenset[Phase] = frozenset({"test"})

STATUS: dict[tuple[Status, Move], Status] = {
    ("running", "work"): "running",
    ("running", "wait"): "waiting",
    ("running", "stop"): "stopped",
    ("running", "resume"): "running",
    ("running", "complete"): "completed",
    ("running", "cancel"): "cancelled",
    ("waiting", "answer"): "running",
    ("waiting", "stop"): "stopped",
    ("waiting", "cancel"): "cancelled",
    ("stopped", "stop"): "stopped",
    ("stopped", "resume"): "running",
    ("stopped", "cancel"): "cancelled",
    ("cancelled", "cancel"): "cancelled",
}


FINAL: frozenset[Status] = frozenset({"completed", "cancelled"})


def illegal(event: PhaseEvent, why: str) -> IllegalEvent:
    return IllegalEvent(f"{type(event).__name__} is not possible: {why}", why=why)


def moved(loop: PhaseLoop, event: PhaseEvent, move: Move) -> Status:
    """The next status, from the table."""
    following = STATUS.get((loop.status, move))
    if following is None:
        allowed = sorted({possible for before, possible in STATUS if before == loop.status})
        raise illegal(event, f"the loop is {loop.status}; it allows: {', '.join(allowed) or 'nothing any more'}")
    return following


def refuse_if_final(loop: PhaseLoop, event: PhaseEvent) -> None:
    if loop.status in FINAL:
        raise illegal(event, f"the loop is {loop.status}, and stays so")


def refuse_strangers(loop: PhaseLoop, event: PhaseEvent, session_id: str | None) -> None:
    """An agent's events count only in the session that drives the loop, or outside of sessions if none drives it."""
    if session_id != loop.session_id:
        owner = f"the session {loop.session_id}" if loop.session_id is not None else "no session"
        raise illegal(event, f"it comes from {session_id or 'outside of any session'}, and {owner} drives the loop")


Moved = tuple[PhaseLoop, tuple[PhaseEffect, ...]]


def complete_phase(loop: PhaseLoop, open_findings: int, at: str) -> Moved:
    """The receipt of the present phase has verified."""
    if not open_findings or (loop.phase, "findings") not in FOLLOWS:
        return _enter(_counted(loop), FOLLOWS[loop.phase, "done"], at)
    if loop.phase == "re_review":
        loop = replace(loop, fix_review_cycles=loop.fix_review_cycles + 1)
    if loop.fix_review_cycles >= loop.max_fix_cycles:
        rounds = f"{loop.fix_review_cycles} of {loop.max_fix_cycles} rounds of fixing"
        return give_up(loop, f"{open_findings} findings are open after {rounds}", at)
    following = FOLLOWS[loop.phase, "findings"]
    return _enter(_counted(loop) if loop.phase == "review" else loop, following, at)


def give_up(loop: PhaseLoop, reason: str, at: str, *, tests_pass: bool | None = None) -> Moved:
    """The limits of the phase are used up. In a session the phase is left by force; else a person has to say so."""
    if loop.session_id is not None:
        return force(loop, reason, at, tests_pass=tests_pass)
    forced = FOLLOWS.get((loop.phase, "forced")) is not None
    hint = "; `aot ship` tries again, `aot ship advance --reason …` leaves the phase" if forced else ""
    return stop(loop, f"limit: {loop.phase}: {reason}{hint}", at)


def force(loop: PhaseLoop, reason: str, at: str, *, tests_pass: bool | None = None) -> Moved:
    """Leaves the phase unfinished. Where force is not allowed, the loop stops."""
    following = FOLLOWS.get((loop.phase, "forced"))
    if following is None or (loop.phase in FORCED_ONLY_IF_TESTS_PASS and tests_pass is not True):
        return stop(loop, f"limit: {loop.phase}: {reason}; it cannot be left like this", at)
    loop = with_error(loop, f"left by force: {reason}", at, forced=True)
    return _enter(loop, following, at, forced=reason)


def stop(loop: PhaseLoop, reason: str, at: str) -> Moved:
    return replace(loop, status="stopped", stop_reason=reason, last_updated=at), (Stop(reason=reason),)


def with_error(loop: PhaseLoop, message: str, at: str, *, forced: bool = False, refused: bool = False) -> PhaseLoop:
    record = ErrorRecord(
        phase=loop.phase,
        message=message,
        iteration=loop.global_iteration,
        timestamp=at,
        forced=forced,
        refused=refused,
    )
    errors = loop.errors
    if refused and errors and errors[-1].refused and _turn(errors[-1]) == _turn(record):
        errors = errors[:-1]  # one record for each turn, of its last try, because an agent may try many times
    return replace(loop, errors=(*errors, record), last_updated=at)


def _turn(record: ErrorRecord) -> tuple[Phase, int]:
    return record.phase, record.iteration


def _counted(loop: PhaseLoop) -> PhaseLoop:
    if loop.phase in loop.phases_completed:
        return loop
    return replace(loop, phases_completed=(*loop.phases_completed, loop.phase))


def _enter(loop: PhaseLoop, phase: Phase, at: str, *, forced: str | None = None) -> Moved:
    entered = replace(loop, phase=phase, phase_iteration=0, phase_started_at=at, last_updated=at)
    return entered, (Enter(phase=phase, forced=forced),)
