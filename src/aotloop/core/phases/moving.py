"""How a phase is left: completed by its receipt, or by force, on record; and never into nothing."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.effects import Enter, PhaseEffect, Stop
from aotloop.core.phases.model import ErrorRecord, Phase, PhaseLoop
from aotloop.core.phases.transitions import FOLLOWS, FORCED_ONLY_IF_TESTS_PASS

Moved = tuple[PhaseLoop, tuple[PhaseEffect, ...]]


def complete_phase(loop: PhaseLoop, open_findings: int, at: str) -> Moved:
    """The receipt of the present phase has verified."""
    if not open_findings or (loop.phase, "findings") not in FOLLOWS:
        return _enter(_counted(loop), FOLLOWS[loop.phase, "done"], at)
    if loop.phase == "re_review":
        loop = replace(loop, fix_review_cycles=loop.fix_review_cycles + 1)
    if loop.fix_review_cycles >= loop.max_fix_cycles:
        rounds = f"{loop.fix_review_cycles} of {loop.max_fix_cycles} rounds of fixing"
        return force(loop, f"{open_findings} findings are open after {rounds}", at)
    following = FOLLOWS[loop.phase, "findings"]
    return _enter(_counted(loop) if loop.phase == "review" else loop, following, at)


def force(loop: PhaseLoop, reason: str, at: str, *, tests_pass: bool | None = None) -> Moved:
    """Leaves the phase without its being completed; where that may not be, the loop stops."""
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
        errors = errors[:-1]  # one record for a turn, of its last try: an agent may try as often as it likes
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
