"""What is left of the money is shared, and nothing of it is given twice."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.conduct.run import Attempt
from aotloop.runner.till import Till
from tests.core.conduct.driving import NOON, Driver, begun
from tests.loops import a_loop, atom


def a_till(
    driver: Driver, most: float | None = None, costs_nothing: Callable[[Attempt], bool] = lambda _: False
) -> Till:
    return Till(driver.run, most, costs_nothing)


def with_attempts(count: int, limit: float | None) -> Driver:
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(1, count + 1))), max_cost_usd=limit)
    assert len(driver.run.attempts) == count
    return driver


def test_without_a_limit_only_that_of_one_attempt_holds() -> None:
    driver = with_attempts(2, None)
    assert a_till(driver).reserve(1) is None
    assert a_till(driver, 2.5).reserve(1) == 2.5


def test_what_starts_together_gets_equal_shares_and_all_of_it() -> None:
    driver = with_attempts(3, 9.0)
    till = a_till(driver)
    assert [till.reserve(number) for number in driver.run.attempts] == [3.0, 3.0, 3.0]


def test_one_alone_gets_all_that_is_left() -> None:
    driver = with_attempts(1, 9.0)
    driver.run.advance(events.Spent(usd=2.0))
    assert a_till(driver).reserve(driver.number("A1")) == 7.0


def test_the_limit_of_one_attempt_holds_too() -> None:
    driver = with_attempts(3, 9.0)
    till = a_till(driver, 1.0)
    assert [till.reserve(number) for number in driver.run.attempts] == [1.0, 1.0, 1.0]


def test_what_was_not_used_is_there_for_the_next() -> None:
    driver = with_attempts(3, 9.0)
    till = a_till(driver)
    for number in driver.run.attempts:
        till.reserve(number)
    till.release(driver.number("A1"))
    driver.run.advance(events.Spent(usd=0.5))
    driver.fail("A1")
    assert till.reserve(driver.number("A1")) == 2.5


def test_nothing_is_given_while_all_of_it_is_reserved() -> None:
    driver = with_attempts(2, 9.0)
    till = a_till(driver, costs_nothing=lambda one: one.atom == "A2")
    assert till.reserve(driver.number("A1")) == 9.0
    assert till.reserve(driver.number("A2")) == 0.0


def test_who_costs_nothing_takes_no_share() -> None:
    driver = with_attempts(3, 9.0)
    assert a_till(driver, costs_nothing=lambda one: one.atom != "A1").reserve(driver.number("A1")) == 9.0


def test_a_limit_that_a_person_raises_counts_at_once() -> None:
    driver = with_attempts(1, 9.0)
    till = a_till(driver)
    till.reserve(driver.number("A1"))
    till.release(driver.number("A1"))
    raised = replace(driver.loop.objective.constraints, max_cost_usd=20.0)
    driver.told(events.ConstraintsCorrected(constraints=raised, description="it is worth it", at=NOON))
    driver.fail("A1")
    assert till.reserve(driver.number("A1")) == 20.0
