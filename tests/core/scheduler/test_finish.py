"""How a run ends: why it cannot go on, what is tried before it says so, and in which order that is decided."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import EndAnnounced, Finished, StartAttempt, VerifyBaseCase
from aotloop.core.events import RedirectRequested, RetryGranted, ScopeReduced, Spent, StopRequested
from aotloop.core.model import AtomCheck, Decomposition, Loop, TrailEntry
from aotloop.core.policy import turns
from aotloop.core.policy.turns import patience
from tests.core.scheduler.driving import NOON, Driver, begun, contents
from tests.loops import a_loop, atom

RED = {"tests": "red"}

# --- limits ------------------------------------------------------------------------------------------------------

LIMITS: list[tuple[dict[str, Any], Spent, str]] = [
    ({"max_cost_usd": 2.0}, Spent(usd=2.0), "limit: it cost $2.00 of the $2.00 allowed"),
    ({"max_runtime": "1h"}, Spent(seconds=3600), "limit: its runtime of 1h is used up"),
]


def test_at_the_limit_of_time_what_runs_is_ended_and_the_base_case_is_tried_once_more() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2, max_runtime="1h")
    driver.told(Spent(seconds=3600))
    assert (driver.running, driver.cancelled(discard=False)) == ([], ["A1", "A2"])
    announced = [effect for effect in driver.all(EndAnnounced) if effect.are_ended]
    assert [effect.attempts for effect in announced] == [((1, "A1"), (2, "A2"))]
    reason = "limit: its runtime of 1h is used up"
    assert driver.verdict(RED) == [Finished(status="stopped", reason=reason)]
    assert driver.loop.control.tried == 0


def test_time_that_is_over_while_another_limit_waits_ends_what_runs() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, max_runtime="1h", max_cost_usd=1.0)
    driver.told(Spent(usd=1.0))
    assert [effect.are_ended for effect in driver.all(EndAnnounced)] == [False]
    driver.told(Spent(seconds=3600))
    assert (driver.running, driver.cancelled(discard=False)) == ([], ["A1", "A2"])
    driver.verdict(RED)
    assert driver.reason == "limit: it cost $1.00 of the $1.00 allowed"


def test_at_the_limit_of_time_finished_work_is_still_merged() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, max_runtime="1h")
    driver.done("A1")
    driver.told(Spent(seconds=3600))
    assert driver.cancelled(discard=False) == ["A2"]
    driver.merge()
    assert driver.status("A1") == "resolved"


@pytest.mark.parametrize(("limits", "spent", "reason"), LIMITS[:1])
def test_at_a_limit_nothing_starts_all_is_drained_and_the_base_case_is_tried_once_more(
    limits: dict[str, Any], spent: Spent, reason: str
) -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3"), atom("A4", "A1")), max_parallel_agents=2, **limits)
    driver.told(spent)
    assert (driver.running, driver.cancelled()) == (["A1", "A2"], [])
    driver.resolve("A1")
    assert (driver.running, driver.verifying) == (["A2"], None)
    driver.resolve("A2")
    assert driver.verifying is not None
    assert driver.verdict(RED) == [Finished(status="stopped", reason=reason)]
    assert driver.loop.control.stop_reason == reason
    assert [driver.status(one) for one in ("A1", "A2", "A3")] == ["resolved", "resolved", "pending"]


@pytest.mark.parametrize(("limits", "spent", "reason"), LIMITS)
def test_below_a_limit_it_goes_on(limits: dict[str, Any], spent: Spent, reason: str) -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1, **limits)
    driver.told(Spent(usd=spent.usd * 0.9, seconds=spent.seconds * 0.9))
    driver.resolve("A1")
    assert driver.running == ["A2"], reason


def test_what_was_spent_adds_up() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1, max_cost_usd=1.0)
    driver.told(Spent(usd=0.5))
    driver.told(Spent(usd=0.5))
    driver.resolve("A1")
    driver.verdict(RED)
    assert driver.reason.startswith("limit:")


def test_at_a_limit_nothing_is_repaired_any_more() -> None:
    driver = begun(a_loop(atom("A1")), max_cost_usd=1.0)
    driver.told(Spent(usd=1.0))
    driver.resolve("A1")
    driver.verdict(RED)
    assert driver.reason.startswith("limit:")
    assert [one.id for one in driver.loop.atoms] == ["A1"]


PLENTY: dict[str, Any] = {"max_total_attempts": 999, "max_stall_count": 99}


def test_as_many_iterations_as_allowed_and_no_more() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")), max_iterations=2, **PLENTY)
    length = driver.loop.control.generation.least
    while driver.running:
        driver.fail(driver.running[0])
    driver.verdict(RED)
    assert driver.reason == "limit: 2 iterations, as many as allowed"
    assert (driver.loop.control.iteration, driver.loop.control.tried) == (2, 2 * length)


def test_nothing_is_started_that_would_belong_to_an_iteration_beyond_the_last() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_iterations=1, **PLENTY)
    length = driver.loop.control.generation.least
    for _ in range(length - 1):
        driver.fail(driver.running[0])
    assert len(driver.running) == 1, "the last attempt of this generation"
    driver.fail(driver.running[0])
    assert driver.running == []
    assert len(driver.all(StartAttempt)) == length


def test_as_many_attempts_as_allowed_and_no_more_and_that_is_a_limit() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_total_attempts=4, max_stall_count=99)
    while driver.running:
        driver.fail(driver.running[0])
    driver.verdict(RED)
    assert driver.reason == "limit: 4 attempts of the 4 allowed"
    assert (driver.loop.control.tried, len(driver.all(StartAttempt))) == (4, 4)


def test_without_a_word_about_it_there_are_ten_attempts_for_each_atom() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")), max_stall_count=99)
    while driver.running:
        driver.fail(driver.running[0], f"test {driver.loop.control.tried} fails")
    driver.verdict(RED)
    assert driver.reason == "limit: 20 attempts of the 20 allowed", "one atom may use what another brings"


@pytest.mark.parametrize(("left", "running"), [(1, ["A1"]), (2, ["A1", "A2"]), (9, ["A1", "A2", "A3"])])
def test_no_more_attempts_are_under_way_than_may_still_be_made(left: int, running: list[str]) -> None:
    assert begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_total_attempts=left).running == running


def test_what_is_given_up_without_an_outcome_may_be_made_again() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_total_attempts=1)
    driver.wait("A1")
    assert driver.running == ["A2"]
    driver.wait("A2")
    driver.wait_over("A1")
    assert driver.running == ["A1"]


def test_a_retry_that_a_person_grants_gives_a_share_back() -> None:
    driver = begun(a_loop(atom("A1")), max_stall_count=99)
    while driver.running:
        driver.fail("A1", f"test {driver.loop.control.tried} fails")
    assert driver.loop.control.tried == 10
    driver.told(RedirectRequested())
    driver.told(RetryGranted(atom="A1", description="again", at=NOON))
    assert driver.running == ["A1"]
    while driver.running:
        driver.fail("A1", f"test {driver.loop.control.tried} fails")
    driver.verdict(RED)
    assert driver.reason == "limit: 20 attempts of the 20 allowed"


def test_a_run_that_completes_in_its_last_iteration_is_completed() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1)
    driver.resolve("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_run_whose_base_case_fails_in_the_last_iteration_stops_at_the_limit() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1, **PLENTY)
    while driver.finished is None:
        if driver.verifying is not None:
            driver.verdict(RED)
        else:
            driver.resolve(driver.running[0])
    assert driver.reason == "limit: 1 iterations, as many as allowed"


def test_a_capped_run_whose_base_case_holds_is_completed_by_the_last_verdict_only() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")), max_total_attempts=1)
    driver.resolve("A1")
    assert driver.finished is None
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_run_that_begins_at_its_limit_starts_nothing() -> None:
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, iteration=20)
    driver = Driver(loop)
    driver.begin()
    while driver.verifying is not None:
        driver.verdict(RED)
    assert driver.reason.startswith("limit:")
    assert driver.loop.control.iteration == 20


# --- exhausted and stalled ---------------------------------------------------------------------------------------


def test_what_does_not_depend_on_a_command_that_fails_is_still_finished() -> None:
    loop = a_loop(atom("C1", run="make"), atom("A2", "C1"), atom("A3"), atom("A4", "A3"))
    driver = begun(loop)
    driver.fail("C1")
    for one in ("A3", "A4"):
        driver.resolve(one)
        driver.fail("C1")
    driver.verdict(RED)
    assert driver.reason == "exhausted: nothing can start; not resolved: C1, A2"


def worn_out(**limits: Any) -> Driver:
    """A repair for which patience is over with its next failure; nothing else is left to do."""
    driver = begun(a_loop(atom("A1", status="resolved"), atom("R", repairs="tests")), **limits)
    driver.worn_out("R")
    return driver


def test_an_exhausted_run_tries_the_base_case_once_more_and_only_once() -> None:
    driver = worn_out()
    driver.fail("R")
    assert driver.verifying == 2
    driver.verdict(RED)
    assert len(driver.all(VerifyBaseCase)) == 2
    assert driver.reason == "exhausted: every attempt and every alternative has failed for R"


def fail_for_a_generation(driver: Driver) -> None:
    """In another way each time, and more often than bad luck explains."""
    before = driver.loop.control.iteration
    driver.impatient(*driver.running)
    while driver.running and driver.loop.control.iteration == before:
        driver.fail(driver.running[0], f"test {driver.loop.control.tried} fails")


def test_a_loop_that_does_not_get_smaller_stops_as_stalled() -> None:
    driver = begun(a_loop(atom("A1")), max_total_attempts=999, max_stall_count=2)
    for stalls in (1, 2):
        assert driver.running == ["A1"]
        fail_for_a_generation(driver)
        assert driver.loop.control.stall_count == stalls
    assert driver.running == []
    driver.verdict(RED)
    assert driver.reason.startswith("stalled: 2 generations")


def test_a_loop_that_stalls_while_a_unit_fails_alike_says_so() -> None:
    driver = begun(a_loop(atom("A1")), max_total_attempts=999, max_stall_count=1)
    while driver.running:
        driver.fail("A1", "no such host")
    driver.verdict(RED)
    assert driver.reason.startswith("blocked: A1 failed ")
    assert "in the same way (no such host)" in driver.reason


def test_a_run_does_not_stall_while_something_failed_no_more_often_than_bad_luck_explains() -> None:
    """Eleven atoms, each of which fails: first all are tried, then all are out of patience."""
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(11))), max_parallel_agents=1, max_stall_count=1)
    for number in range(11):
        assert driver.running == [f"A{number}"], "what was never tried comes first"
        driver.ends_soon()
        driver.fail(f"A{number}")
        assert driver.loop.control.stall_count == 0
    driver.impatient(*(f"A{number}" for number in range(11)))
    driver.ends_soon()
    driver.fail(driver.running[0])
    assert driver.loop.control.stall_count == 1
    driver.verdict(RED)
    assert driver.reason.startswith("stalled:")


def test_choices_take_turns_and_one_that_is_new_is_no_stall() -> None:
    driver = begun(a_loop(*(atom(one, or_group="g") for one in "XYZ")), max_attempts=1, max_stall_count=1)
    turns = []
    while driver.running:
        turns += driver.running
        driver.fail(driver.running[0], f"test {len(turns)} fails")
    assert turns[:6] == ["X", "Y", "Z", "X", "Y", "Z"]
    driver.verdict(RED)
    assert driver.reason.startswith("limit: 30 attempts")


def test_what_still_runs_when_it_stalls_is_drained_and_merged() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, max_stall_count=1)
    driver.impatient("A1", "A2")
    driver.ends_soon()
    driver.fail("A1")
    driver.fail("A2")
    assert driver.loop.control.stall_count == 1
    (last,) = driver.running
    driver.resolve(last)
    assert driver.running == []
    driver.verdict(RED)
    assert driver.reason.startswith("stalled:")
    assert driver.status(last) == "resolved"


# --- what only a person can help ---------------------------------------------------------------------------------


def test_a_unit_that_fails_alike_whatever_is_tried_ends_a_run_as_blocked() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1")), max_attempts=1, **PLENTY)
    driver.resolve("A1")
    while driver.running:
        driver.fail(driver.running[0], f"no such host ({driver.loop.control.tried} s)")
    times = 2 * ceil(turns.HOPELESS * patience(driver.loop) / 2)
    assert driver.loop.control.tried == 1 + times
    driver.verdict(RED)
    assert driver.reason.startswith(
        f"blocked: X and Y failed {times} times in the same way (no such host ({times} s));"
    )
    assert driver.reason.endswith("aot redirect --retry X")


def test_what_is_hopeless_is_set_aside_and_the_rest_goes_on() -> None:
    entry = TrailEntry(reason="no such host", timestamp=NOON, type="failure", atom="A1")
    loop = a_loop(atom("A1", alike=999, failures=1), atom("A2", failures=2), trail=[entry])
    driver = begun(loop, max_parallel_agents=1, **PLENTY)
    assert driver.running == ["A1"]
    driver.fail("A1", "no such host")
    for _ in range(3):
        assert driver.running == ["A2"]
        driver.fail("A2")
    driver.resolve("A2")
    driver.verdict(RED)
    assert driver.reason.startswith("blocked: A1 failed 1000 times")


def test_failures_that_differ_block_nothing() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=99, **PLENTY)
    for number in range(150):
        driver.fail("A1", f"test_{number % 2} fails")
    assert driver.running == ["A1"]


def test_after_a_person_grants_a_retry_it_goes_on() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=99, **PLENTY)
    while driver.running:
        driver.fail("A1")
    driver.told(RedirectRequested())
    driver.told(RetryGranted(atom="A1", description="the host is up", at=NOON))
    assert driver.running == ["A1"]
    driver.fail("A1")
    assert driver.running == ["A1"]


# --- the order of decisions --------------------------------------------------------------------------------------


def test_a_redirect_comes_before_a_stop() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.loop.control = replace(driver.loop.control, stop_requested=True)
    driver.told(RedirectRequested())
    assert driver.cancelled() == ["A1"]
    assert driver.reason.startswith("user:")


def test_a_stop_overrides_a_redirect_whose_dialogue_is_open() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.told(RedirectRequested())
    assert driver.finished is None
    driver.told(StopRequested(reason="enough"))
    assert driver.reason == "user: enough"


def test_a_stop_comes_before_a_base_case_that_may_hold() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.resolve("A1")
    assert driver.verifying == 2
    driver.told(StopRequested(reason="enough"))
    assert driver.finished == Finished(status="stopped", reason="user: enough")
    assert driver.tell(driver.a_verdict(2)) == []
    assert driver.loop.control.status == "stopped"


def test_the_base_case_comes_before_exhausted() -> None:
    driver = worn_out()
    driver.fail("R")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


@pytest.mark.parametrize("limits", [{"max_stall_count": 1}, {"max_total_attempts": 1}, {"max_iterations": 1}], ids=str)
def test_exhausted_comes_before_stalled_and_limits(limits: dict[str, int]) -> None:
    driver = worn_out(**limits)
    driver.ends_soon()
    driver.fail("R")
    driver.verdict(RED)
    assert driver.reason.startswith("exhausted:")


def test_stalled_comes_before_limits() -> None:
    driver = begun(a_loop(atom("A1")), max_stall_count=1, max_iterations=1, max_total_attempts=1)
    driver.impatient("A1")
    driver.ends_soon()
    driver.fail("A1")
    driver.verdict(RED)
    assert driver.reason.startswith("stalled:")


def test_the_base_case_comes_before_stalled_and_limits() -> None:
    driver = begun(a_loop(atom("A1")), max_stall_count=1, max_iterations=1, max_total_attempts=1)
    driver.ends_soon()
    driver.fail("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_limit_that_was_reached_first_stays_the_reason_when_it_stalls_while_it_is_drained() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=2, max_stall_count=1, max_cost_usd=1.0)
    driver.ends_soon()
    driver.told(Spent(usd=1.0))
    driver.fail("A1")
    driver.fail("A2")
    driver.verdict(RED)
    assert driver.reason.startswith("limit:")


def test_what_is_exhausted_while_it_is_drained_is_called_so() -> None:
    driver = worn_out(max_cost_usd=1.0)
    driver.told(Spent(usd=1.0))
    driver.fail("R")
    driver.verdict(RED)
    assert driver.reason.startswith("exhausted:")


# --- whatever the reason -----------------------------------------------------------------------------------------


def halfway() -> Loop:
    return a_loop(atom("A1"), atom("A2", "A1"), atom("A3", "A1"))


@pytest.mark.parametrize("why", ["user", "limit", "exhausted", "stalled"])
def test_a_stop_keeps_atoms_bindings_and_trail(why: str) -> None:
    loop = halfway()
    if why == "exhausted":
        loop.atoms[1:] = [replace(one, run="make") for one in loop.atoms[1:]]
    driver = begun(loop, max_stall_count=1, max_cost_usd=1.0)
    driver.resolve("A1")
    driver.fail("A2")
    before = contents(driver.loop)
    match why:
        case "user":
            driver.told(StopRequested())
        case "limit":
            driver.told(Spent(usd=1.0))
    while driver.finished is None:
        if driver.verifying is not None:
            driver.verdict(RED)
        else:
            driver.impatient("A2", "A3")
            driver.ends_soon()
            driver.fail(driver.running[0])
    after = contents(driver.loop)
    assert driver.reason.startswith(f"{why}:")
    assert driver.status("A1") == "resolved"
    assert [one["id"] for one in after["atoms"]] == [one["id"] for one in before["atoms"]]
    assert after["bindings"] == before["bindings"]
    assert after["trail"][: len(before["trail"])] == before["trail"]
    assert "in_progress" not in {one["status"] for one in after["atoms"]}


def test_what_is_only_drained_is_not_judged_and_begins_no_generation() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3", "A1")), max_cost_usd=1.0, max_attempts=9)
    driver.told(Spent(usd=2.0))
    for one in ("A1", "A2"):
        driver.fail(one)
    assert (driver.loop.control.stall_count, driver.loop.control.iteration) == (0, 1)
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("limit: it cost $2.00")


def test_a_generation_is_judged_after_the_verdict_if_one_is_due() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), verify_each_iteration=True, max_attempts=9)
    driver.ends_soon()
    driver.resolve("A1")
    driver.fail("A2")
    assert (driver.verifying is not None, driver.loop.control.prev_pending_count) == (True, -1)
    driver.verdict({"tests": "red"})
    assert driver.loop.control.prev_pending_count == 1


def test_a_generation_is_judged_after_the_check_of_a_whole() -> None:
    whole = atom("P", check=AtomCheck(type="command", value="true"))
    parts = [Decomposition(parent="P", children=("C",), reason="parts")]
    driver = begun(a_loop(whole, atom("C"), atom("A2", "P"), decompositions=parts))
    driver.ends_soon()
    driver.resolve("C")
    assert (driver.checking, driver.loop.control.prev_pending_count) == (["P"], -1)
    driver.check_parent("P")
    assert driver.loop.control.prev_pending_count == 1


def test_what_a_removed_atom_waited_for_keeps_nobody_waiting() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", run="make")), max_attempts=1)
    driver.wait("A1")
    driver.told(ScopeReduced(atom="A1", description="not needed", at=NOON))
    driver.fail("A2")
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("exhausted:")
    assert (driver.run.waiting, driver.run.waits) == ({}, {})


def test_a_command_without_a_way_out_does_not_keep_another_from_its_own() -> None:
    stuck, failing = atom("A1", run="exit 1"), atom("D", "P", run="exit 1")
    driver = begun(a_loop(stuck, atom("P", or_group="G"), atom("Q", or_group="G"), failing), max_parallel_agents=1)
    while driver.running[0] != "D":
        if driver.running[0] == "P":
            driver.resolve("P")
        else:
            driver.fail("A1")
    driver.fail("D")
    if driver.running == ["A1"]:  # once more, since something was merged
        driver.fail("A1")
    assert driver.loop.or_groups["G"].selected == "Q"
    assert driver.loop.control.status == "running"
