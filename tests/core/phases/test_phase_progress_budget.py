"""What agents cost is counted once, told about, and ends the loop where that was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.core.phases.effects import Warn
from aotloop.core.phases.events import LoopStopped, MoneySpent
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import Bill, PhaseLoop
from aotloop.core.phases.phase_progress import is_spent, money_left
from tests.core.phases.loops import LATER, a_phase_loop


def spent(loop: PhaseLoop, usd: float, of: str = "turn 1") -> tuple[PhaseLoop, tuple[Any, ...]]:
    return advance(loop, MoneySpent(at=LATER, of=of, usd=usd))


def test_of_each_turn_there_is_one_bill_the_latest() -> None:
    loop = a_phase_loop()
    for of, usd in (("turn 1", 1.0), ("turn 2", 0.5), ("turn 1", 1.5)):
        loop, _ = spent(loop, usd, of)
    assert loop.bills == (Bill(of="turn 2", usd=0.5), Bill(of="turn 1", usd=1.5))
    assert (loop.spent_usd, loop.last_updated) == (2.0, LATER)


@pytest.mark.parametrize("usd", [0.0, 0.5, 1.0])
def test_a_bill_that_is_no_higher_than_before_changes_nothing(usd: float) -> None:
    loop, _ = spent(a_phase_loop(), 1.0)
    assert spent(loop, usd) == (loop, ())


def test_a_turn_that_cost_nothing_is_no_news() -> None:
    loop = a_phase_loop()
    assert spent(loop, 0.0) == (loop, ())


def test_whoever_passes_both_marks_at_once_is_told_once() -> None:
    _, told = spent(a_phase_loop(budget_limit_usd=10), 12.0)
    assert told == (Warn(text="100% of the budget are spent: 12.00 of 10.00 USD"),)


def test_a_loop_that_stopped_for_another_reason_keeps_that_reason() -> None:
    loop, _ = advance(
        a_phase_loop(budget_limit_usd=1, enforce_budget=True), LoopStopped(at=LATER, reason="user: enough")
    )
    loop, effects = spent(loop, 0.5)
    assert effects == ()
    loop, effects = spent(loop, 2.0)
    assert [type(one) for one in effects] == [Warn]
    assert (loop.status, loop.stop_reason, loop.spent_usd) == ("stopped", "user: enough", 2.0)


def test_below_an_enforced_budget_it_goes_on_and_at_it_not() -> None:
    loop, _ = spent(a_phase_loop(budget_limit_usd=1, enforce_budget=True), 0.75)
    assert (loop.status, is_spent(loop), money_left(loop)) == ("running", False, 0.25)
    loop, _ = spent(loop, 1.0)
    assert (loop.status, is_spent(loop), money_left(loop)) == ("stopped", True, 0.0)
    assert money_left(spent(loop, 3.0)[0]) == 0.0


def test_a_budget_that_is_not_enforced_leaves_as_much_as_one_likes() -> None:
    loop, _ = spent(a_phase_loop(budget_limit_usd=1), 5.0)
    assert (is_spent(loop), money_left(loop)) == (False, None)
