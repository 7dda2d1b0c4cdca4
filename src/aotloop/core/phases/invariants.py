"""Invariants of a phase loop beyond the types of its fields, and the measure that each step makes smaller."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.findings import Finding, error
from aotloop.core.phases.model import PHASES, VERSION, Phase, PhaseLoop
from aotloop.core.phases.transitions import FINAL

LOWEST = {
    "phase_iteration": 0,
    "global_iteration": 0,
    "max_iterations": 1,
    "max_phase_iterations": 1,
    "fix_review_cycles": 0,
    "max_fix_cycles": 0,
}


def findings_of(loop: PhaseLoop) -> Iterator[Finding]:
    if loop.version != VERSION:
        yield error(("version",), f"{loop.version} is not {VERSION}")
    for name, lowest in LOWEST.items():
        if getattr(loop, name) < lowest:
            yield error((name,), f"{getattr(loop, name)} is less than {lowest}")
    if not 0 <= loop.budget_limit_usd < float("inf"):
        yield error(("budget_limit_usd",), f"{loop.budget_limit_usd:g} is not an amount of money")
    if not 0 <= loop.spent_usd < float("inf"):
        yield error(("spent_usd",), f"{loop.spent_usd:g} is not an amount of money")
    for name in ("feature", "completion_promise"):
        if not getattr(loop, name).strip():
            yield error((name,), "is empty", missing=True)


_AFTER_REVIEW: dict[Phase, int] = {"compound": 3, "test": 2, "ship": 1}


def steps_left(loop: PhaseLoop) -> int:
    if loop.status in FINAL:
        return 0
    return _moves_left(loop) + max(loop.max_iterations - loop.global_iteration, 0)


def _moves_left(loop: PhaseLoop) -> int:
    """Each round of fixing has two phases. The person's decision on the acceptance tests is a separate move."""
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
