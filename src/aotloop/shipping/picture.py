"""A phase loop as whoever watches loops can draw it: its phases are the atoms."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.model import Atom, BaseCase, Binding, Constraints, Control, Loop, LoopStatus, Objective
from aotloop.core.phases.completing import ROUNDS, forced_phases
from aotloop.core.phases.model import PHASES, PhaseLoop, Status
from aotloop.core.phases.receipts import RECEIPTS

_STATUSES: dict[Status, LoopStatus] = {
    "running": "running",
    "waiting": "stopped",
    "stopped": "stopped",
    "completed": "completed",
    "cancelled": "stopped",
}


def picture_of(loop: PhaseLoop) -> Loop:
    return Loop(
        objective=Objective(
            goal=loop.feature,
            base_case=BaseCase(),
            background_intent="",
            deliverables="",
            definition_of_done="",
            constraints=Constraints(
                max_iterations=loop.max_iterations,
                max_parallel_agents=1,
                max_attempts=loop.max_phase_iterations,
                max_cost_usd=loop.budget_limit_usd,
            ),
        ),
        control=Control(
            status=_STATUSES[loop.status],
            iteration=loop.global_iteration,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
            cost_usd=loop.spent_usd,
        ),
        atoms=list(_atoms(loop)),
        bindings={point.phase: Binding(summary=point.summary) for point in loop.checkpoints},
    )


def _atoms(loop: PhaseLoop) -> Iterator[Atom]:
    """Rounds of fixing are shown only if there is something to fix."""
    forced = forced_phases(loop)
    before: tuple[str, ...] = ()
    for phase in PHASES:
        is_walked = phase == loop.phase or phase in loop.phases_completed or phase in forced
        is_skipped = phase == "brainstorm" and loop.skip_brainstorm
        if (phase in ROUNDS and not (is_walked or loop.phase in ROUNDS)) or (is_skipped and not is_walked):
            continue
        is_done = (phase in loop.phases_completed or phase in forced) and phase != loop.phase
        is_done = is_done or loop.status == "completed"
        yield Atom(
            id=phase,
            description=f"left by force: {RECEIPTS[phase].artifact}" if phase in forced else RECEIPTS[phase].artifact,
            status="resolved" if is_done else "in_progress" if phase == loop.phase else "pending",
            depends_on=before,
            attempts=loop.phase_iteration if phase == loop.phase else 0,
        )
        before = (phase,)
