"""How many steps a phase loop can still make: a number that every step makes smaller, so that the loop halts.

A step is the end of an iteration, or a phase that is left. Only a person makes the number larger: by resuming a loop,
by allowing more, by refusing what waits for it.
"""

from __future__ import annotations

from aotloop.core.phases.illegal import FINAL
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop

_AFTER_REVIEW: dict[Phase, int] = {"compound": 3, "test": 2, "ship": 1}


def steps_left(loop: PhaseLoop) -> int:
    if loop.status in FINAL:
        return 0
    return _moves_left(loop) + max(loop.max_iterations - loop.global_iteration, 0)


def _moves_left(loop: PhaseLoop) -> int:
    """Each round of fixing is two phases; the person's word on the acceptance tests is a move of its own."""
    rounds = max(loop.max_fix_cycles - loop.fix_review_cycles, 0)
    if loop.phase in _AFTER_REVIEW:
        return _AFTER_REVIEW[loop.phase]
    if loop.phase == "re_review":
        return 2 + 2 * max(rounds, 1)
    if loop.phase == "fix":
        return 3 + 2 * max(rounds, 1)
    phases = PHASES.index("review") - PHASES.index(loop.phase)
    is_unapproved = PHASES.index(loop.phase) < PHASES.index("spec_test") or (
        loop.phase == "spec_test" and loop.status != "waiting"
    )
    return 4 + 2 * rounds + phases + is_unapproved
