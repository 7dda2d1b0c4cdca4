"""What has to be so in every phase loop beyond the types of its fields, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.findings import Finding, error
from aotloop.core.phases.model import VERSION, PhaseLoop

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
