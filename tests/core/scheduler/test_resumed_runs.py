"""A run takes up what an earlier one left behind, and pays for nothing twice."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.model import Decomposition, OrGroup
from tests.core.scheduler.driving import Driver, begun
from tests.loops import a_loop, atom

RED = {"tests": "red"}


def test_atoms_left_in_progress_by_a_run_that_died_are_pending_again() -> None:
    driver = Driver(a_loop(atom("A1", status="in_progress", attempts=1), atom("A2")))
    driver.begin()
    assert (driver.status("A1"), driver.atom("A1").attempts, driver.running) == ("pending", 1, [])
    driver.verdict(RED)
    assert driver.running == ["A1", "A2"]


def test_a_result_that_was_found_is_merged_without_a_new_attempt() -> None:
    driver = Driver(a_loop(atom("A1", status="in_progress"), atom("A2", "A1")))
    driver.begin()
    driver.found("A1")
    driver.verdict(RED)
    assert (driver.merging, driver.running) == ("A1", [])
    driver.merge()
    assert (driver.running, driver.loop.bindings["A1"].summary) == (["A2"], "did A1 before")


def test_a_result_that_was_found_for_what_is_not_ready_is_ignored() -> None:
    driver = Driver(a_loop(atom("A1"), atom("A2", "A1"), atom("A3", status="resolved")))
    driver.begin()
    for one in ("A2", "A3", "nobody"):
        assert driver.found(one) == []
    driver.found("A1")
    assert driver.found("A1") == []


def test_results_that_were_found_count_as_no_iteration_beyond_the_last() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"))
    loop.control = replace(loop.control, iteration=20)
    driver = Driver(loop)
    driver.begin()
    driver.found("A1")
    driver.verdict(RED)
    driver.merge()
    assert (loop.control.iteration, driver.status("A1"), driver.running) == (20, "resolved", [])


def test_a_turn_goes_on_where_it_was_when_a_run_begins() -> None:
    driver = begun(a_loop(atom("X", or_group="g", attempts=1, failures=1), atom("Y", or_group="g")))
    assert driver.running == ["X"]
    driver.fail("X")
    assert driver.running == ["Y"]


def test_a_loop_that_an_earlier_version_had_given_up_goes_on() -> None:
    """Every choice had failed for good, all attempts were spent, and nothing that is counted now was counted."""
    loop = a_loop(
        atom("X", or_group="g", attempts=2), atom("Y", or_group="g", attempts=2), atom("Z", "X"),
        atom("A1", attempts=2), status="stopped",
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], failed=("X", "Y"))
    loop.control = replace(loop.control, iteration=7, prev_pending_count=3, stop_reason="exhausted: …")
    driver = begun(loop)
    assert driver.running == ["X", "A1"]
    driver.resolve("X", "A1", "Z")
    driver.verdict()
    assert driver.loop.control.status == "completed"


def test_parents_whose_parts_were_done_are_resolved_when_a_run_begins() -> None:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    driver = Driver(a_loop(atom("P"), atom("C", status="resolved"), atom("A1", "P"), decompositions=[split]))
    driver.begin()
    driver.verdict(RED)
    assert (driver.status("P"), driver.running) == ("resolved", ["A1"])


def test_a_run_goes_on_counting_where_the_last_one_stopped() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    loop.control = replace(loop.control, iteration=4, stall_count=1, cost_usd=2.5, stop_requested=True)
    driver = Driver(loop)
    driver.begin()
    driver.verdict(RED)
    assert (loop.control.iteration, loop.control.stall_count, loop.control.cost_usd) == (5, 1, 2.5)
    assert driver.running == ["A1"]


def test_a_choice_that_is_not_selected_is_left_alone_when_a_run_begins() -> None:
    group = OrGroup(choices=("X", "Y"), selected="Y")
    loop = a_loop(atom("X", or_group="g", attempts=2), atom("Y", or_group="g"), or_groups={"g": group})
    Driver(loop).begin()
    assert loop.or_groups == {"g": group}


def test_what_was_resolved_with_its_last_attempt_needs_no_alternative() -> None:
    driver = Driver(a_loop(atom("A1", status="resolved", attempts=2), atom("A2")), max_attempts=2)
    driver.begin()
    driver.verdict({"tests": "red"})
    assert driver.running == ["A2"]


def test_a_failure_without_consequence_is_taken_up_whatever_stands_before_it_in_the_file() -> None:
    """The parts of W are done, and its check has failed as often as patience allows."""
    others = (atom("A0", status="resolved"), atom("V", "Y", or_group="h"), atom("Y", or_group="g"))
    parts = [Decomposition(parent="W", children=("C",), reason="parts")]
    loop = a_loop(
        *others, atom("W", or_group="g", attempts=99), atom("X", or_group="g"), atom("C", status="resolved"),
        decompositions=parts,
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], selected="W")
    driver = Driver(loop)
    driver.begin()
    assert driver.group("g").selected != "W"
    assert driver.loop.trail[-1].reason == "W failed: it failed again and again"


def test_a_result_that_was_found_is_a_workers_with_a_number_of_its_own() -> None:
    loop = a_loop(atom("A1", touches=("src/**",)), atom("A2", touches=("src/a.py",)), atom("A3"))
    driver = begun(loop, max_parallel_agents=1)
    assert driver.running == ["A1"]
    driver = Driver(loop.snapshot(), max_parallel_agents=3)
    driver.begin()
    driver.found("A1")
    driver.verdict(RED)
    assert (driver.merging, driver.running) == ("A1", ["A3"])
    assert sorted(driver.run.attempts) == [1, 2]
    driver.merge()
    assert sorted(driver.run.attempts) == [2, 3]
