"""Events of a whole phase loop: begun, bound to a session, stopped, resumed, cancelled; and its notes."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.effects import Enter, GoOn, Stop
from aotloop.core.phases.events import (
    ArtifactsNamed,
    CheckpointWritten,
    ErrorMet,
    LoopCancelled,
    LoopResumed,
    LoopStopped,
    SessionBound,
)
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.phase_progress import is_spent
from aotloop.core.phases.transitions import Moved, illegal, moved, refuse_if_final, with_error


def begin(loop: PhaseLoop) -> Moved:
    """The first phase of a new loop depends on whether the brainstorm is skipped."""
    first = "plan" if loop.skip_brainstorm else "brainstorm"
    loop = replace(loop, phase=first, phase_started_at=loop.started_at)
    return loop, (Enter(phase=loop.phase),)


def bind(loop: PhaseLoop, event: SessionBound) -> Moved:
    refuse_if_final(loop, event)
    is_held = loop.session_id is not None and loop.status != "stopped"
    if is_held and event.session_id != loop.session_id and not event.take_over:
        raise illegal(event, f"the session {loop.session_id} drives the loop")
    if event.session_id == loop.session_id:
        return loop, ()
    return replace(loop, session_id=event.session_id, last_updated=event.at), ()


def stop_loop(loop: PhaseLoop, event: LoopStopped) -> Moved:
    status = moved(loop, event, "stop")
    if status == loop.status:
        return loop, ()
    stopped = replace(loop, status=status, stop_reason=event.reason, last_updated=event.at)
    return stopped, (Stop(reason=event.reason),)


def resume(loop: PhaseLoop, event: LoopResumed) -> Moved:
    status = moved(loop, event, "resume")
    most = event.max_iterations if event.max_iterations is not None else loop.max_iterations
    most_in_phase = event.max_phase_iterations if event.max_phase_iterations is not None else loop.max_phase_iterations
    if most <= loop.global_iteration:
        raise illegal(event, f"{loop.global_iteration} of {most} iterations are used up; allow more")
    if most_in_phase < 1:
        raise illegal(event, "a phase has one iteration at least")
    allowed = _allowed(loop, event)
    if is_spent(allowed):
        raise illegal(event, f"{allowed.spent_usd:.2f} of {allowed.budget_limit_usd:.2f} USD are spent; allow more")
    is_anew = status != loop.status
    resumed = replace(
        allowed,
        status=status,
        stop_reason=None,
        max_iterations=most,
        max_phase_iterations=most_in_phase,
        phase_iteration=0 if is_anew else loop.phase_iteration,
    )
    if resumed == loop:
        return loop, ()
    return replace(resumed, last_updated=event.at), ((GoOn(phase=loop.phase),) if is_anew else ())


def _allowed(loop: PhaseLoop, event: LoopResumed) -> PhaseLoop:
    """The loop with the limits of this event."""
    given = {name: getattr(event, name) for name in ("max_fix_cycles", "budget_limit_usd", "enforce_budget")}
    return replace(loop, **{name: value for name, value in given.items() if value is not None})


def cancel(loop: PhaseLoop, event: LoopCancelled) -> Moved:
    status = moved(loop, event, "cancel")
    if status == loop.status:
        return loop, ()
    cancelled = replace(loop, status=status, stop_reason=event.reason, last_updated=event.at)
    return cancelled, (Stop(reason=event.reason),)


def write_checkpoint(loop: PhaseLoop, event: CheckpointWritten) -> Moved:
    refuse_if_final(loop, event)
    return replace(loop, checkpoints=(*loop.checkpoints, event.checkpoint), last_updated=event.at), ()


def note_error(loop: PhaseLoop, event: ErrorMet) -> Moved:
    refuse_if_final(loop, event)
    return with_error(loop, event.message, event.at), ()


def name_artifacts(loop: PhaseLoop, event: ArtifactsNamed) -> Moved:
    refuse_if_final(loop, event)
    given = {"progress_file": event.progress_file, "pr_url": event.pr_url, "branch": event.branch}
    artifacts = replace(loop.artifacts, **{key: value for key, value in given.items() if value is not None})
    if artifacts == loop.artifacts:
        return loop, ()
    return replace(loop, artifacts=artifacts, last_updated=event.at), ()
