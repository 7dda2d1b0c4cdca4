"""What reaches the branch, one thing at a time: merges and reverts, and never while something is being judged."""

from __future__ import annotations

from aotloop.core.effects import Integrate, VerifyBaseCase
from aotloop.core.events import BindingOverridden
from aotloop.core.model import AtomCheck
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.merge_queue import reverted, unblocked
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.slots import fill_slots
from aotloop.core.scheduler.verification_schedule import verify_if_due
from tests.core.scheduler.driving import NOON, begun
from tests.loops import a_loop, atom

# --- one at a time -----------------------------------------------------------------------------------------------


def test_results_are_merged_one_at_a_time_in_the_order_in_which_they_came() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")))
    for one in ("A2", "A3", "A1"):
        driver.done(one)
    assert [effect.atom for effect in driver.all(Integrate)] == ["A2"]
    driver.merge()
    assert driver.merging == "A3"
    driver.merge()
    assert driver.merging == "A1"


def test_a_result_that_is_reported_twice_is_merged_once() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.done("A1")
    assert driver.tell(reports.WorkDone(attempt=driver.number("A1"), summary="again", at=NOON)) == []
    driver.merge()
    assert driver.loop.bindings["A1"].summary == "did A1"
    driver.done("A2")
    assert driver.merging == "A2"


def test_the_next_is_merged_after_one_that_was_refused() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.done("A1")
    driver.done("A2")
    driver.refuse()
    assert driver.merging == "A2"


def test_nothing_is_merged_while_the_base_case_is_tried() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    assert driver.verifying is not None
    driver.done("A2")
    assert driver.merging is None
    driver.verdict({"tests": "red"})
    assert driver.merging == "A2"


def test_the_base_case_is_not_tried_while_something_is_merged() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=2, verify_each_iteration=True)
    driver.ends_soon()
    driver.resolve("A1")
    driver.done("A3")
    assert driver.merging == "A3"
    driver.fail("A2")
    assert driver.verifying is None
    driver.merge()
    assert driver.verifying is not None


def test_nothing_is_merged_while_a_parent_is_checked() -> None:
    loop = a_loop(atom("A1", check=AtomCheck(type="command", value="true")), atom("A2"))
    driver = begun(loop)
    driver.propose("A1", "part")
    driver.resolve("A3")
    assert driver.checking == ["A1"]
    driver.done("A2")
    assert driver.merging is None
    driver.check_parent("A1")
    assert driver.merging == "A2"


def test_the_base_case_is_not_tried_while_a_parent_is_checked() -> None:
    loop = a_loop(atom("A1", check=AtomCheck(type="command", value="true")))
    driver = begun(loop, verify_each_iteration=True)
    driver.propose("A1", "part")
    driver.resolve("A2")
    assert (driver.checking, driver.verifying) == (["A1"], None)
    driver.check_parent("A1")
    assert driver.verifying is not None


# --- refused, conflicting ----------------------------------------------------------------------------------------


def test_a_merge_that_is_refused_is_a_failed_attempt() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.done("A1")
    driver.refuse("touches a protected path")
    assert (driver.atom("A1").attempts, driver.loop.trail[-1].reason) == (1, "touches a protected path")
    assert driver.running == ["A1"]
    assert driver.loop.bindings == {}


def test_a_conflict_is_not_counted_and_the_atom_starts_again() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_attempts=1)
    driver.resolve("A1")
    driver.done("A2")
    driver.conflict("A1")
    assert (driver.atom("A2").attempts, driver.running, driver.loop.trail) == (0, ["A2"], [])


def test_two_atoms_that_conflicted_run_apart_from_then_on() -> None:
    driver = begun(a_loop(atom("A0"), atom("A1", "A0"), atom("A2", "A0")))
    driver.resolve("A0")
    driver.resolve("A1")
    driver.done("A2")
    driver.conflict("A1")
    driver.told(BindingOverridden(atom="A0", summary="differently", description="no", at=NOON))
    driver.reverted()
    assert driver.running == ["A1"]
    driver.resolve("A1")
    assert driver.running == ["A2"]


def test_a_third_atom_runs_beside_two_that_conflicted() -> None:
    driver = begun(a_loop(atom("A0"), atom("A1", "A0"), atom("A2", "A0"), atom("A3", "A0")))
    driver.resolve("A0")
    driver.resolve("A1")
    driver.done("A2")
    driver.conflict("A1")
    driver.told(BindingOverridden(atom="A0", summary="differently", description="no", at=NOON))
    driver.reverted()
    assert driver.running == ["A1", "A3"]


# --- blocked -----------------------------------------------------------------------------------------------------


def test_a_merge_that_a_person_blocks_frees_the_slot_and_waits() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.done("A1")
    driver.block()
    assert (driver.running, driver.status("A1"), driver.atom("A1").attempts) == (["A2"], "in_progress", 0)


def test_what_was_blocked_is_merged_when_the_way_is_free_again() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.done("A1")
    driver.block()
    driver.unblock("A1")
    assert driver.merging == "A1"
    driver.merge()
    assert (driver.status("A1"), driver.running) == ("resolved", ["A2"])


def test_what_is_unblocked_waits_for_its_turn() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    driver.done("A1")
    driver.block()
    driver.done("A2")
    driver.unblock("A1")
    assert driver.merging == "A2"
    driver.merge()
    assert driver.merging == "A1"


def test_if_only_blocked_results_are_left_the_run_stops_as_blocked_and_keeps_them() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.done("A1")
    driver.block("README.md has uncommitted changes")
    driver.verdict({"tests": "red"})
    assert driver.reason == "blocked: README.md has uncommitted changes"
    assert driver.cancelled(discard=False) == ["A1"]


def test_what_clashes_with_a_blocked_result_does_not_start() -> None:
    driver = begun(a_loop(atom("A1", touches=("a",)), atom("A2", touches=("a",))))
    driver.done("A1")
    driver.block("in the way")
    driver.verdict({"tests": "red"})
    assert driver.reason == "blocked: in the way"


def test_unblocking_during_the_last_verdict_begins_no_iteration_beyond_the_last() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")), max_iterations=1)
    driver.done("A1")
    driver.block()
    driver.unblock("A1")
    driver.verdict({"tests": "red"})
    assert driver.merging == "A1"
    driver.merge()
    assert (driver.loop.control.iteration, driver.running) == (1, ["A2"]), "it goes on: it was not judged yet"


def test_a_conflict_with_what_a_person_committed_counts_as_no_attempt() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.done("A1")
    driver.tell(reports.BranchMoved(at=NOON))
    driver.conflict()
    assert (driver.atom("A1").attempts, driver.running) == (0, ["A1"])


def test_a_command_that_failed_is_tried_again_when_somebody_has_committed() -> None:
    driver = begun(a_loop(atom("A1", run="make"), atom("A2")))
    driver.fail("A1")
    assert driver.running == ["A2"]
    driver.tell(reports.BranchMoved(at=NOON))
    assert driver.running == ["A2", "A1"]


def test_a_merge_that_is_refused_is_an_outcome() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=9)
    driver.done("A1")
    driver.refuse()
    assert (driver.loop.control.tried, driver.loop.control.generation.outcomes) == (1, 1)


def test_a_conflict_with_nothing_that_was_merged_meanwhile_is_an_outcome() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.done("A1")
    driver.conflict()
    assert driver.loop.trail[-1].reason == "it cannot be merged"
    assert (driver.loop.control.tried, driver.atom("A1").failures, driver.running) == (1, 1, ["A1"])


def test_what_is_cleared_away_while_the_run_ends_for_want_of_it_lets_it_go_on() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.done("A1")
    driver.block()
    assert driver.verifying is not None, "it tries the base case once more"
    driver.unblock("A1")
    driver.verdict({"tests": "red"})
    assert (driver.finished, driver.merging) == (None, "A1")


def test_a_run_that_ends_for_another_reason_is_not_kept_going_by_it() -> None:
    run = Run(a_loop(atom("A1")))
    run.end("blocked: README.md has uncommitted changes", can_be_unblocked=True)
    run.end("limit: it cost too much")
    run.blocked_by[1] = "README.md has uncommitted changes"
    unblocked(run, reports.Unblocked(attempt=1, at=NOON))
    assert (run.ending, run.to_merge) == ("limit: it cost too much", [1])


def test_what_was_taken_back_is_another_state_of_the_branch() -> None:
    run = Run(a_loop(atom("A1")))
    run.reverting = run.is_verified = True
    reverted(run, reports.Reverted(problem=None, at=NOON))
    assert (run.reverting, run.is_verified, run.merges) == (False, False, 1)
    run.is_verified = True
    reverted(run, reports.Reverted(problem=None, at=NOON))
    assert (run.is_verified, run.merges) == (True, 1)


def test_nothing_starts_and_nothing_is_verified_before_all_is_taken_back() -> None:
    run = Run(a_loop(atom("A1")))
    run.to_revert = ["A2"]
    assert verify_if_due(run) == []
    run.has_begun = True
    assert fill_slots(run) == []
    run.to_revert, run.reverting = [], True
    assert fill_slots(run) == []
    run.has_begun = False
    assert verify_if_due(run) == []
    run.reverting = False
    assert verify_if_due(run) == [VerifyBaseCase(number=1)]
