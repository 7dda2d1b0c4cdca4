"""An iteration is a generation: those in flight when the slots were filled; who starts later belongs to the next."""

from __future__ import annotations

from aotloop.core.effects import Withdrawn
from aotloop.core.events import Spent
from tests.core.conduct.driving import Driver, begun
from tests.loops import a_loop, atom

RED = {"tests": "red"}


def test_an_iteration_begins_when_the_slots_are_filled() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2)
    assert driver.loop.control.iteration == 1


def test_who_starts_meanwhile_belongs_to_the_next_iteration() -> None:
    driver = begun(a_loop(*(atom(f"A{number}") for number in range(1, 6))), max_parallel_agents=2)
    driver.resolve("A1")
    assert (driver.running, driver.loop.control.iteration) == (["A2", "A3"], 1)
    driver.resolve("A3")
    assert (driver.running, driver.loop.control.iteration) == (["A2", "A4"], 1)
    driver.resolve("A2")
    assert (driver.running, driver.loop.control.iteration) == (["A4", "A5"], 2)


def test_an_iteration_ends_when_its_own_have_reported_though_newer_ones_run() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2, max_attempts=9, max_stall_count=9)
    driver.fail("A1")
    assert driver.loop.control.stall_count == 0
    driver.fail("A2")
    assert (driver.loop.control.stall_count, driver.loop.control.iteration) == (1, 2)


def test_a_result_that_waits_to_be_merged_has_not_been_reported_yet() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.done("A1")
    assert driver.loop.control.prev_pending_count == -1
    driver.merge()
    assert (driver.loop.control.prev_pending_count, driver.loop.control.iteration) == (1, 2)


def test_a_blocked_result_does_not_hold_up_its_iteration() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.done("A1")
    driver.block()
    assert driver.loop.control.iteration == 2


def test_a_generation_is_judged_after_its_verdict() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3", "A2")), verify_each_iteration=True, max_attempts=9)
    driver.fail("A1")
    driver.resolve("A2")
    assert (driver.verifying, driver.loop.control.prev_pending_count) == (2, -1)
    driver.verdict(RED)
    assert driver.loop.control.prev_pending_count == 2


def test_a_verdict_with_fewer_failing_items_than_ever_is_progress() -> None:
    driver = Driver(a_loop(atom("A1")), max_attempts=5, max_stall_count=9)
    driver.begin()
    driver.verdict({"a": "", "b": ""})
    driver.resolve("A1")
    driver.verdict({"a": "", "b": ""})
    driver.resolve("A2", "A3")
    driver.verdict({"a": "", "b": ""})
    assert driver.loop.control.stall_count == 1
    driver.resolve("A4", "A5")
    driver.verdict({"a": ""})
    assert driver.loop.control.stall_count == 0
    driver.resolve("A6")
    driver.verdict({"b": ""})
    assert driver.loop.control.stall_count == 1, "as few as before are not fewer"


def test_resolving_repairs_is_no_progress() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=5, max_stall_count=9)
    driver.resolve("A1")
    assert driver.loop.control.stall_count == 0
    for stalls, repair in enumerate(("A2", "A3", "A4")):
        driver.verdict(RED)
        assert driver.loop.control.stall_count == stalls
        driver.resolve(repair)


def test_parts_that_lead_nowhere_are_withdrawn_and_work_on_them_is_cancelled() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=2, max_attempts=9, max_stall_count=9)
    driver.fail("A2")
    driver.propose("A1", "one", "two")
    assert driver.running == ["A2", "A3"]
    driver.fail("A2")
    driver.propose("A3", "one of one")
    (withdrawn,) = driver.all(Withdrawn)
    assert (withdrawn.parents, sorted(withdrawn.atoms)) == (("A1",), ["A3", "A4", "A5"])
    assert driver.cancelled() == ["A4"]
    assert driver.running == ["A1", "A2"]
    driver.propose("A1", "again")
    assert "one piece" in driver.loop.trail[-1].reason


def test_a_generation_of_probes_is_neither_progress_nor_a_stall() -> None:
    driver = begun(a_loop(*(atom(one, or_group="g") for one in "WXY")), max_attempts=1)
    driver.fail("W")
    assert driver.loop.control.stall_count == 1
    driver.probe("X")
    driver.probe("Y")
    assert driver.loop.control.stall_count == 1
    driver.fail("X")
    assert driver.loop.control.stall_count == 0


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
