"""How a run ends: why it cannot go on, what is tried before it says so, and in which order that is decided."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Finished, VerifyBaseCase
from aotloop.core.events import RedirectRequested, ScopeReduced, Spent, StopRequested
from aotloop.core.model import AtomCheck, Decomposition, Loop
from tests.core.conduct.driving import NOON, Driver, begun, contents
from tests.loops import a_loop, atom

RED = {"tests": "red"}

# --- limits ------------------------------------------------------------------------------------------------------

LIMITS: list[tuple[dict[str, Any], Spent, str]] = [
    ({"max_cost_usd": 2.0}, Spent(usd=2.0), "limit: it cost $2.00 of the $2.00 allowed"),
    ({"max_runtime": "1h"}, Spent(seconds=3600), "limit: it ran for 1h, as long as allowed"),
]


@pytest.mark.parametrize(("limits", "spent", "reason"), LIMITS)
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


def test_as_many_iterations_as_allowed_and_no_more() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1"), atom("A3", "A2")), max_iterations=2)
    driver.resolve("A1", "A2")
    assert driver.running == []
    driver.verdict(RED)
    assert driver.reason == "limit: 2 iterations, as many as allowed"
    assert driver.loop.control.iteration == 2


def test_nothing_is_started_that_would_belong_to_an_iteration_beyond_the_last() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3", "A1")), max_iterations=1)
    driver.resolve("A1")
    assert driver.running == ["A2"]
    driver.resolve("A2")
    assert driver.running == []


def test_a_run_that_completes_in_its_last_iteration_is_completed() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1)
    driver.resolve("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_run_whose_base_case_fails_in_the_last_iteration_stops_at_the_limit() -> None:
    driver = begun(a_loop(atom("A1")), max_iterations=1)
    driver.resolve("A1")
    driver.verdict(RED)
    while driver.verifying is not None:
        driver.verdict(RED)
    assert driver.reason.startswith("limit:")


def test_a_capped_run_whose_base_case_holds_is_completed_by_the_last_verdict_only() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")), max_iterations=1)
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


def test_what_does_not_depend_on_an_exhausted_atom_is_still_finished() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1"), atom("A3"), atom("A4", "A3")), max_attempts=1)
    driver.fail("A1")
    driver.resolve("A3", "A4")
    driver.verdict(RED)
    assert driver.reason == "exhausted: every attempt and every alternative has failed for A1"


def test_an_exhausted_run_tries_the_base_case_once_more_and_only_once() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1)
    driver.fail("A1")
    assert driver.verifying == 2
    driver.verdict(RED)
    assert len(driver.all(VerifyBaseCase)) == 2


def test_a_loop_that_does_not_get_smaller_stops_as_stalled() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=9, max_stall_count=2)
    driver.fail("A1")
    driver.fail("A1")
    assert driver.running == []
    driver.verdict(RED)
    assert driver.reason.startswith("stalled: 2 generations")


def test_before_it_stalls_a_choice_is_given_up_while_there_are_others() -> None:
    driver = begun(a_loop(atom("X", or_group="g"), atom("Y", or_group="g")), max_attempts=9, max_stall_count=2)
    driver.fail("X")
    assert (driver.running, driver.group("g").selected) == (["Y"], "Y")
    assert driver.loop.trail[-1].reason.startswith("nothing got smaller")


def test_what_still_runs_when_it_stalls_is_drained_and_merged() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2, max_attempts=9, max_stall_count=1)
    driver.fail("A1")
    driver.fail("A2")
    assert driver.running == ["A1"]
    driver.resolve("A1")
    assert driver.running == []
    driver.verdict(RED)
    assert driver.reason.startswith("stalled:")
    assert driver.status("A1") == "resolved"


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
    driver = begun(a_loop(atom("A1")), max_attempts=1)
    driver.fail("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_exhausted_comes_before_stalled() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1, max_stall_count=1)
    driver.fail("A1")
    driver.verdict(RED)
    assert driver.loop.control.stall_count == 1
    assert driver.reason.startswith("exhausted:")


def test_exhausted_comes_before_limits() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1, max_iterations=1)
    driver.fail("A1")
    driver.verdict(RED)
    assert driver.reason.startswith("exhausted:")


def test_stalled_comes_before_limits() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=2, max_stall_count=1, max_iterations=1)
    driver.fail("A1")
    driver.verdict(RED)
    assert driver.reason.startswith("stalled:")


def test_the_base_case_comes_before_stalled_and_limits() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=2, max_stall_count=1, max_iterations=1)
    driver.fail("A1")
    driver.verdict()
    assert driver.finished == Finished(status="completed")


def test_a_limit_that_was_reached_first_stays_the_reason_when_it_stalls_while_it_is_drained() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=2, max_stall_count=1, max_cost_usd=1.0)
    driver.told(Spent(usd=1.0))
    driver.fail("A1")
    driver.fail("A2")
    driver.verdict(RED)
    assert driver.reason.startswith("limit:")


def test_what_is_exhausted_while_it_is_drained_is_called_so() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=1, max_cost_usd=1.0)
    driver.told(Spent(usd=1.0))
    driver.fail("A1")
    driver.fail("A2")
    driver.verdict(RED)
    assert driver.reason.startswith("exhausted:")


# --- whatever the reason -----------------------------------------------------------------------------------------


def halfway() -> Loop:
    return a_loop(atom("A1"), atom("A2", "A1"), atom("A3", "A1"))


@pytest.mark.parametrize("why", ["user", "limit", "exhausted", "stalled"])
def test_a_stop_keeps_atoms_bindings_and_trail(why: str) -> None:
    driver = begun(halfway(), max_attempts=1 if why == "exhausted" else 2, max_stall_count=1, max_cost_usd=1.0)
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
    driver.resolve("A1")
    driver.fail("A2")
    assert (driver.verifying is not None, driver.loop.control.prev_pending_count) == (True, -1)
    driver.verdict({"tests": "red"})
    assert driver.loop.control.prev_pending_count == 1


def test_a_generation_is_judged_after_the_check_of_a_whole() -> None:
    whole = atom("P", check=AtomCheck(type="command", value="true"))
    parts = [Decomposition(parent="P", children=("C",), reason="parts")]
    driver = begun(a_loop(whole, atom("C"), atom("A2", "P"), decompositions=parts))
    driver.resolve("C")
    assert (driver.checking, driver.loop.control.prev_pending_count) == (["P"], -1)
    driver.check_parent("P")
    assert driver.loop.control.prev_pending_count == 1


def test_what_a_removed_atom_waited_for_keeps_nobody_waiting() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=1)
    driver.wait("A1")
    driver.told(ScopeReduced(atom="A1", description="not needed", at=NOON))
    driver.fail("A2")
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("exhausted:")
    assert (driver.run.waiting, driver.run.waits) == ({}, {})
