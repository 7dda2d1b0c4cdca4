"""The progress of each phase of a feature, for people. It decides nothing."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from aotloop.core.phases.effects import PhaseEffect, Warn
from aotloop.core.phases.events import MoneySpent
from aotloop.core.phases.model import PHASES, Bill, Phase, PhaseLoop
from aotloop.core.phases.promise import ROUNDS, forced_phases
from aotloop.core.phases.receipts import receipt_of
from aotloop.core.phases.transitions import Moved, illegal, refuse_if_final, stop

PhaseState = Literal["done", "forced", "now", "skipped", ""]
"""Empty: the phase is still to come."""


def state_of(loop: PhaseLoop, phase: Phase) -> PhaseState:
    if loop.status == "completed" and phase not in forced_phases(loop):
        return "done" if receipt_of(loop, phase) is not None else "skipped"
    if phase == loop.phase:
        return "now"
    if phase in forced_phases(loop):
        return "forced"
    if phase in loop.phases_completed:
        return "done"
    is_past = PHASES.index(phase) < PHASES.index(loop.phase)
    return "skipped" if is_past and (phase in ROUNDS or phase == "brainstorm") else ""


def expected_phases(loop: PhaseLoop) -> tuple[Phase, ...]:
    """Phases that are done or will come. Rounds of fixing are expected only after a review has found something."""
    walked = {loop.phase, *loop.phases_completed, *forced_phases(loop)}
    left_out = {*(() if loop.phase in ROUNDS else ROUNDS), *(("brainstorm",) if loop.skip_brainstorm else ())}
    return tuple(phase for phase in PHASES if phase in walked or phase not in left_out)


WARNED_AT = (0.8, 1.0)
"""Warnings appear at these parts of the budget."""


def spend(loop: PhaseLoop, event: MoneySpent) -> Moved:
    refuse_if_final(loop, event)
    if not 0 <= event.usd < float("inf"):
        raise illegal(event, f"{event.usd:g} is not an amount of money")
    more = event.usd - next((bill.usd for bill in loop.bills if bill.of == event.of), 0.0)
    if more <= 0:
        return loop, ()
    bills = (*(bill for bill in loop.bills if bill.of != event.of), Bill(of=event.of, usd=event.usd))
    after = replace(loop, spent_usd=loop.spent_usd + more, bills=bills, last_updated=event.at)
    news: tuple[PhaseEffect, ...] = tuple(
        Warn(text=f"{part:.0%} of the budget are spent: {_amounts(after)}")
        for part in WARNED_AT
        if loop.spent_usd < part * loop.budget_limit_usd <= after.spent_usd
    )[-1:]
    if after.status in ("running", "waiting") and is_spent(after):
        after, stopped = stop(after, f"limit: the budget is spent, {_amounts(after)}", event.at)
        return after, (*news, *stopped)
    return after, news


def is_spent(loop: PhaseLoop) -> bool:
    return loop.enforce_budget and loop.spent_usd >= loop.budget_limit_usd


def money_left(loop: PhaseLoop) -> float | None:
    """None: there is no limit."""
    return max(loop.budget_limit_usd - loop.spent_usd, 0.0) if loop.enforce_budget else None


def _amounts(loop: PhaseLoop) -> str:
    return f"{loop.spent_usd:.2f} of {loop.budget_limit_usd:.2f} USD"
