"""What is left of the money is shared by tasks and judges, and nothing of it is given twice."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.scheduler.run_state import Attempt
from aotloop.execution.budget import Budget
from aotloop.runner.atom_attempts import Shares
from tests.core.scheduler.driving import NOON, Driver, begun
from tests.loops import a_loop, atom


class Till:
    """The money of a run, and the shares of its attempts."""

    def __init__(
        self, driver: Driver, most: float | None = None, costs_nothing: Callable[[Attempt], bool] = lambda _: False
    ) -> None:
        self._driver = driver
        self.budget = Budget(self._left, most)
        self._shares = Shares(driver.run, self.budget, costs_nothing)
        self.reserve, self.release = self._shares.reserve, self.budget.release

    def _left(self) -> float | None:
        limit = self._driver.run.limits.max_cost_usd
        return limit - self._driver.loop.control.cost_usd if limit is not None else None


def with_attempts(count: int, limit: float | None) -> Driver:
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(1, count + 1))), max_cost_usd=limit)
    assert len(driver.run.attempts) == count
    return driver


def test_without_a_limit_only_that_of_one_attempt_holds() -> None:
    driver = with_attempts(2, None)
    assert Till(driver).reserve(1) is None
    assert Till(driver, 2.5).reserve(1) == 2.5


def test_what_starts_together_gets_equal_shares_and_all_of_it() -> None:
    driver = with_attempts(3, 9.0)
    till = Till(driver)
    assert [till.reserve(number) for number in driver.run.attempts] == [3.0, 3.0, 3.0]


def test_one_alone_gets_all_that_is_left() -> None:
    driver = with_attempts(1, 9.0)
    driver.run.advance(events.Spent(usd=2.0))
    assert Till(driver).reserve(driver.number("A1")) == 7.0


def test_the_limit_of_one_attempt_holds_too() -> None:
    driver = with_attempts(3, 9.0)
    till = Till(driver, 1.0)
    assert [till.reserve(number) for number in driver.run.attempts] == [1.0, 1.0, 1.0]


def test_what_was_not_used_is_there_for_the_next() -> None:
    driver = with_attempts(3, 9.0)
    till = Till(driver)
    for number in driver.run.attempts:
        till.reserve(number)
    till.release(driver.number("A1"))
    driver.run.advance(events.Spent(usd=0.5))
    driver.fail("A1")
    assert till.reserve(driver.number("A1")) == 2.5


def test_nothing_is_given_while_all_of_it_is_reserved() -> None:
    driver = with_attempts(2, 9.0)
    till = Till(driver, costs_nothing=lambda one: one.atom == "A2")
    assert till.reserve(driver.number("A1")) == 9.0
    assert till.reserve(driver.number("A2")) == 0.0


def test_who_costs_nothing_takes_no_share() -> None:
    driver = with_attempts(3, 9.0)
    assert Till(driver, costs_nothing=lambda one: one.atom != "A1").reserve(driver.number("A1")) == 9.0


def test_a_limit_that_a_person_raises_counts_at_once() -> None:
    driver = with_attempts(1, 9.0)
    till = Till(driver)
    till.reserve(driver.number("A1"))
    till.release(driver.number("A1"))
    raised = replace(driver.loop.objective.constraints, max_cost_usd=20.0)
    driver.told(events.ConstraintsCorrected(constraints=raised, description="it is worth it", at=NOON))
    driver.fail("A1")
    assert till.reserve(driver.number("A1")) == 20.0


# --- judges ------------------------------------------------------------------------------------------------------


def never() -> bool:
    return False


def test_a_judge_is_not_lent_what_attempts_have_reserved() -> None:
    till = Till(with_attempts(2, 9.0), most=3.0)
    assert [till.reserve(number) for number in (1, 2)] == [3.0, 3.0]
    with till.budget.share_for_judge(never) as share:
        assert share == 1.0  # of the three that are free, as much as each of those under way could get
        with till.budget.share_for_judge(never) as another:
            assert another == 0.5


def test_a_judge_of_a_task_is_paid_from_what_the_task_left_of_its_share() -> None:
    till = Till(with_attempts(1, 9.0))
    assert till.reserve(1) == 9.0
    till.budget.settle(1, 2.5)
    with till.budget.share_for_judge(never) as share:
        assert share == 6.5


def test_what_a_judge_has_cost_counts_before_the_loop_knows_of_it() -> None:
    driver = with_attempts(1, 9.0)
    till = Till(driver)
    charge = till.budget.charge(4.0)
    assert till.reserve(1) == 5.0
    till.release(1)
    driver.run.advance(events.Spent(usd=4.0))
    till.release(charge)
    assert till.reserve(1) == 5.0


def test_where_attempts_have_reserved_everything_a_judge_waits_for_one_of_them() -> None:
    till = Till(with_attempts(2, 9.0))
    assert [till.reserve(number) for number in (1, 2)] == [4.5, 4.5]
    lent: list[float | None] = []

    def judge() -> None:
        with till.budget.share_for_judge(never) as share:
            lent.append(share)

    thread = threading.Thread(target=judge)
    thread.start()
    till.budget.settle(1, 0.5)
    thread.join()
    assert lent == [2.0]


def test_a_judge_that_waits_for_money_can_be_cancelled() -> None:
    till = Till(with_attempts(1, 9.0))
    till.reserve(1)
    with till.budget.share_for_judge(lambda: True) as share:
        assert share == 0.0


def test_a_judge_does_not_wait_for_money_that_is_gone() -> None:
    till = Till(with_attempts(1, 9.0))
    till.reserve(1)
    till.budget.settle(1, 9.0)
    with till.budget.share_for_judge(never) as share:
        assert share == 0.0
