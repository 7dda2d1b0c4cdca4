"""An iteration is a generation: so many attempts that one without progress is not explained by bad luck."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Withdrawn
from aotloop.core.events import Spent, StopRequested
from tests.core.scheduler.driving import Driver, begun
from tests.loops import a_loop, atom

RED = {"tests": "red"}


def test_an_iteration_begins_when_the_slots_are_filled() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2)
    assert driver.loop.control.iteration == 1


PLENTY: dict[str, Any] = {"max_total_attempts": 999, "max_stall_count": 99}


def test_who_starts_meanwhile_belongs_to_the_same_iteration_as_long_as_it_lasts() -> None:
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(1, 31))), max_parallel_agents=2)
    assert driver.loop.control.generation.least == 30
    for number in range(1, 30):
        driver.resolve(f"A{number}")
    assert (driver.running, driver.loop.control.iteration) == (["A30"], 1)


def test_an_iteration_ends_when_it_lasted_long_enough_though_newer_attempts_run() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, **PLENTY)
    length = driver.loop.control.generation.least
    while driver.loop.control.iteration == 1:
        driver.fail(driver.running[0])
    assert length <= driver.loop.control.tried <= length + 1
    assert len(driver.running) == 2


def test_an_iteration_that_is_not_judged_goes_on_in_the_next_run() -> None:
    driver = begun(a_loop(atom("A1")), **PLENTY)
    length = driver.loop.control.generation.least
    for _ in range(length - 2):
        driver.fail("A1")
    driver.told(StopRequested())
    resumed = begun(driver.loop)
    assert (resumed.loop.control.iteration, resumed.loop.control.generation.outcomes) == (1, length - 2)
    resumed.impatient("A1")
    resumed.fail("A1")
    assert (resumed.loop.control.iteration, resumed.loop.control.stall_count) == (1, 0)
    resumed.fail("A1")
    assert (resumed.loop.control.iteration, resumed.loop.control.stall_count) == (2, 1)


def test_the_last_iteration_that_is_allowed_may_go_on_in_the_next_run() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1, **PLENTY)
    driver.fail("A1")
    driver.told(StopRequested())
    resumed = begun(driver.loop)
    assert (resumed.running, resumed.loop.control.iteration) == (["A1"], 1)


def test_a_result_that_waits_to_be_merged_has_not_been_reported_yet() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.ends_soon()
    driver.done("A1")
    assert driver.loop.control.prev_pending_count == -1
    driver.merge()
    assert (driver.loop.control.prev_pending_count, driver.loop.control.iteration) == (1, 2)


def test_a_blocked_result_does_not_hold_up_its_iteration() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.ends_soon()
    driver.done("A1")
    driver.block()
    driver.fail("A2")
    assert driver.loop.control.iteration == 2


def test_a_generation_is_judged_after_its_verdict() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3", "A2")), verify_each_iteration=True, max_attempts=9)
    driver.ends_soon()
    driver.fail("A1")
    driver.resolve("A2")
    assert (driver.verifying, driver.loop.control.prev_pending_count) == (2, -1)
    driver.verdict(RED)
    assert driver.loop.control.prev_pending_count == 2


def stalled_before(driver: Driver) -> None:
    driver.loop.control = replace(driver.loop.control, stall_count=2)


def test_a_verdict_with_fewer_failing_items_than_ever_is_progress() -> None:
    driver = Driver(a_loop(atom("A1")), **PLENTY)
    driver.begin()
    driver.verdict({"a": "", "b": ""})
    seen = []
    for failing in ({"a": "", "b": ""}, {"a": "", "b": ""}, {"a": ""}, {"b": ""}):
        stalled_before(driver)
        driver.ends_soon()
        driver.resolve(*driver.running)
        driver.verdict(failing)
        seen.append(driver.loop.control.stall_count)
    assert seen == [0, 2, 0, 2], "A1 was resolved; then as few as before are not fewer"


def test_resolving_repairs_is_no_progress_and_a_new_repair_is_no_stall() -> None:
    driver = begun(a_loop(atom("A1")), **PLENTY)
    driver.ends_soon()
    driver.resolve("A1")
    driver.verdict(RED)
    stalled_before(driver)
    for repair in ("A2", "A3", "A4"):
        driver.ends_soon()
        driver.resolve(repair)
        driver.verdict(RED)
        assert driver.loop.control.stall_count == 2, "the next repair was never tried"
    driver.ends_soon()
    driver.impatient("A5")
    driver.fail("A5")
    assert driver.loop.control.stall_count == 3


def test_parts_that_lead_nowhere_are_withdrawn_and_work_on_them_is_cancelled() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, **PLENTY)
    driver.ends_soon()
    driver.fail("A2")
    driver.propose("A1", "one", "two")
    assert sorted(driver.running) == ["A2", "A3"]
    driver.ends_soon()
    driver.fail("A2")
    driver.propose("A3", "one of one")
    (withdrawn,) = driver.all(Withdrawn)
    assert (withdrawn.parents, sorted(withdrawn.atoms)) == (("A1",), ["A3", "A4", "A5"])
    assert driver.cancelled() == ["A4"]
    assert sorted(driver.running) == ["A1", "A2"]
    driver.propose("A1", "again")
    assert "one piece" in driver.loop.trail[-1].reason


@pytest.mark.parametrize("feasible", [True, False])
def test_a_generation_of_probes_counts_as_one_and_is_no_stall(feasible: bool) -> None:
    driver = begun(a_loop(atom("A1", probe=True)), **PLENTY)
    driver.ends_soon()
    driver.probe("A1", feasible=feasible)
    assert (driver.loop.control.stall_count, driver.loop.control.iteration) == (0, 2)


# --- waiting -----------------------------------------------------------------------------------------------------


def test_an_iteration_in_which_everybody_only_had_to_wait_is_not_counted() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1)
    for _ in range(3):
        driver.wait("A1")
        assert (driver.finished, driver.loop.control.iteration) == (None, 1)
        driver.wait_over("A1")
        assert driver.running == ["A1"]
    driver.resolve("A1")
    assert driver.loop.control.iteration == 1


def test_one_who_did_something_makes_it_count() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=9, max_stall_count=9)
    driver.ends_soon()
    driver.wait("A1")
    driver.fail("A2")
    driver.wait_over("A1")
    assert driver.loop.control.iteration == 2


def test_limits_hold_while_everybody_waits() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1, max_cost_usd=1.0)
    driver.wait("A1")
    driver.told(Spent(usd=2.0))
    driver.verdict(RED)
    assert driver.reason.startswith("limit: it cost")
