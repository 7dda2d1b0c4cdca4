"""What agents cost: a budget is only told about, unless it is enforced; then the loop stops when it is spent."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.effects import PhaseEffect, Warn
from aotloop.core.phases.events import MoneySpent
from aotloop.core.phases.illegal import illegal, refuse_if_final
from aotloop.core.phases.model import Bill, PhaseLoop
from aotloop.core.phases.moving import Moved, stop

WARNED_AT = (0.8, 1.0)
"""Parts of the budget."""


def spend(loop: PhaseLoop, event: MoneySpent) -> Moved:
    refuse_if_final(loop, event)
    if not 0 <= event.usd < float("inf"):
        raise illegal(event, f"{event.usd:g} is not an amount of money")
    more = event.usd - next((bill.usd for bill in loop.bills if bill.of == event.of), 0.0)
    if more <= 0:
        return loop, ()
    bills = (*(bill for bill in loop.bills if bill.of != event.of), Bill(of=event.of, usd=event.usd))
    after = replace(loop, spent_usd=loop.spent_usd + more, bills=bills, last_updated=event.at)
    told: tuple[PhaseEffect, ...] = tuple(
        Warn(text=f"{part:.0%} of the budget are spent: {_amounts(after)}")
        for part in WARNED_AT
        if loop.spent_usd < part * loop.budget_limit_usd <= after.spent_usd
    )[-1:]
    if after.status in ("running", "waiting") and is_spent(after):
        after, stopped = stop(after, f"limit: the budget is spent, {_amounts(after)}", event.at)
        return after, (*told, *stopped)
    return after, told


def is_spent(loop: PhaseLoop) -> bool:
    return loop.enforce_budget and loop.spent_usd >= loop.budget_limit_usd


def money_left(loop: PhaseLoop) -> float | None:
    """None: as much as one likes."""
    return max(loop.budget_limit_usd - loop.spent_usd, 0.0) if loop.enforce_budget else None


def _amounts(loop: PhaseLoop) -> str:
    return f"{loop.spent_usd:.2f} of {loop.budget_limit_usd:.2f} USD"
