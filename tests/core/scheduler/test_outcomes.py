"""What follows from the end of an attempt: a retry, a rest, parts, or nothing more."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Retry
from aotloop.core.events import AttemptPaid, Child, ConstraintsCorrected
from aotloop.core.model import Binding, Constraints, Decomposition, Loop
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.outcomes import MOST_WAITS
from tests.core.generated import errors_of
from tests.core.scheduler.driving import NOON, begun, contents, speculative
from tests.loops import a_loop, atom

# --- failing -----------------------------------------------------------------------------------------------------


def test_a_failed_attempt_is_recorded_and_tried_again_while_attempts_are_left() -> None:
    driver = begun(a_loop(atom("A1")))
    effects = driver.fail("A1", "the tests are red")
    assert Retry(atom="A1", attempts=1, allowed=2) in effects
    assert driver.running == ["A1"]
    (entry,) = driver.loop.trail
    assert (entry.type, entry.atom, entry.reason, entry.attempt) == ("failure", "A1", "the tests are red", 1)


def test_a_retry_is_another_attempt_with_another_number() -> None:
    driver = begun(a_loop(atom("A1")))
    first = driver.number("A1")
    driver.fail("A1")
    assert driver.number("A1") > first


def test_an_atom_that_fails_is_tried_again_after_what_was_never_tried() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2"), atom("A3")), max_parallel_agents=1)
    tried = []
    for _ in range(4):
        tried += driver.running
        driver.fail(driver.running[0])
    assert tried == ["A1", "A2", "A3", "A1"]


def test_what_an_agent_says_of_its_failure_reaches_the_loop() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("A1", "X"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], blames={"Y": 1})
    driver = begun(loop)
    driver.resolve("X")
    driver.fail("A1", "X has no such column", because_of=("X",), progress=True, wants_probe=True)
    assert driver.group("g").hints == {"X": ("A1",)}
    assert (driver.atom("A1").partial, driver.probing) == (True, ["A1"])
    driver.probe("A1")
    driver.fail("A1", because_of=("X",))
    driver.reverted()
    assert driver.running == ["Y"]


def test_a_merge_that_is_refused_may_leave_work_that_holds() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    for one, progress in (("A1", True), ("A2", False)):
        driver.done(one)
        driver.refuse(progress=progress)
    assert [one.partial for one in driver.loop.atoms] == [True, False]


def test_what_attempts_cost_is_told_to_the_loop() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.told(AttemptPaid(role="worker", usd=0.5, seconds=9.0))
    assert (driver.loop.control.prices.attempts, driver.loop.control.prices.attempts_usd) == (1, 0.5)


def test_a_result_becomes_a_binding_only_when_it_is_merged() -> None:
    driver = begun(a_loop(atom("A1")))
    driver.done("A1", artifacts=("src/a.py",))
    assert (driver.status("A1"), driver.loop.bindings) == ("in_progress", {})
    driver.merge("c1")
    assert driver.loop.bindings == {"A1": Binding(summary="did A1", artifacts=("src/a.py",))}
    assert driver.loop.control.last_sha == "c1"


def test_a_choice_that_fails_gives_way_within_its_own_group_first() -> None:
    """The other choice of X rests on the group that is a part of X: which of the groups comes first is not plain."""
    loop = a_loop(
        atom("A1", or_group="a"),
        atom("A2", or_group="a"),
        atom("X", or_group="g"),
        atom("Y", "A1", or_group="g"),
        decompositions=[Decomposition(parent="X", children=("A1",), reason="parts")],
    )
    driver = begun(loop, max_attempts=1)
    driver.fail("A1")
    assert (driver.group("a").selected, driver.group("g").selected) == ("A2", "X")
    assert errors_of(loop) == []


def test_when_what_only_one_choice_needs_fails_the_other_choice_is_taken() -> None:
    driver = begun(a_loop(atom("X", "B", or_group="g"), atom("Y", or_group="g"), atom("B")), max_attempts=1)
    assert driver.running == ["B"]
    driver.fail("B")
    assert driver.running == ["B"], "that is bad luck"
    driver.impatient("B")
    driver.fail("B")
    assert (driver.group("g").selected, driver.running) == ("Y", ["Y"])


# --- commands ----------------------------------------------------------------------------------------------------


def test_a_command_that_failed_is_not_run_again_before_something_was_merged() -> None:
    driver = begun(a_loop(atom("C1", run="make"), atom("A2")), max_attempts=3)
    driver.fail("C1")
    assert driver.running == ["A2"]
    driver.resolve("A2")
    assert driver.running == ["C1"]


def test_a_command_during_which_something_was_merged_is_run_again_at_once() -> None:
    driver = begun(a_loop(atom("C1", run="make"), atom("A2"), atom("A3")), max_attempts=3)
    driver.resolve("A2")
    driver.fail("C1")
    assert driver.running == ["A3", "C1"]


def test_a_command_is_given_up_when_nothing_else_can_move() -> None:
    driver = begun(a_loop(atom("C1", run="make")), max_attempts=5)
    driver.fail("C1")
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.reason == "exhausted: nothing can start; not resolved: C1"


def test_a_command_that_is_given_up_gives_way_to_its_alternative() -> None:
    loop = a_loop(atom("C1", run="make", or_group="g"), atom("A2", or_group="g"))
    driver = begun(loop, max_attempts=5)
    driver.fail("C1")
    assert driver.running == ["A2"]
    assert driver.group("g").failed == ("C1",)


def test_a_command_waits_for_others_that_still_work() -> None:
    driver = begun(a_loop(atom("C1", run="make"), atom("A2")), max_attempts=2)
    driver.fail("C1")
    for _ in range(5):
        driver.fail("A2")
        assert driver.running == ["A2"]
    assert driver.atom("C1").failures == 1
    driver.resolve("A2")
    assert driver.running == ["C1"]


def test_after_a_correction_a_command_is_run_again() -> None:
    driver = begun(a_loop(atom("C1", run="make"), atom("A2")), max_attempts=3)
    driver.fail("C1")
    driver.told(ConstraintsCorrected(constraints=Constraints(), description="the disk was full", at=NOON))
    assert driver.running == ["A2", "C1"]


def test_a_command_is_run_again_with_every_merge_and_each_time_counts() -> None:
    driver = begun(a_loop(atom("C1", run="make"), atom("A2"), atom("A3", "A2"), atom("A4", "A3")))
    driver.fail("C1")
    for one in ("A2", "A3"):
        driver.resolve(one)
        assert "C1" in driver.running
        driver.fail("C1")
    assert driver.running == ["A4"]
    assert (driver.atom("C1").failures, driver.loop.control.tried) == (3, 5)


def test_two_commands_that_fail_take_one_turn_each_and_then_nothing_is_left() -> None:
    driver = begun(a_loop(atom("C1", run="make", or_group="g"), atom("C2", run="ninja", or_group="g")))
    driver.fail("C1")
    assert driver.running == ["C2"]
    driver.fail("C2")
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("exhausted:")


def test_beside_a_command_that_failed_the_agents_choice_has_another_turn() -> None:
    driver = begun(a_loop(atom("A1", or_group="g"), atom("C2", run="make", or_group="g")), max_attempts=1)
    turns = []
    for _ in range(4):
        turns += driver.running
        driver.fail(driver.running[0])
    assert turns[:2] == ["A1", "C2"]
    assert set(turns[2:]) == {"A1"}, "the command would fail as it did"


def test_when_nothing_moves_a_command_blames_the_choice_it_rests_on() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("C1", "X", run="make"))
    driver = begun(loop)
    driver.resolve("X")
    driver.fail("C1")
    assert (driver.group("g").selected, driver.reverting) == ("Y", [("X",)])
    driver.reverted()
    driver.resolve("Y")
    assert driver.running == ["C1"]


# --- waiting -----------------------------------------------------------------------------------------------------


def test_a_wait_counts_as_no_attempt_and_ends_when_it_is_over() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=1)
    driver.wait("A1")
    assert (driver.running, driver.status("A1"), driver.atom("A1").attempts) == ([], "pending", 0)
    assert (driver.finished, driver.loop.trail) == (None, [])
    driver.wait_over("A1")
    assert driver.running == ["A1"]


def test_who_waits_gives_its_slot_to_another() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")), max_parallel_agents=1)
    driver.wait("A1")
    assert driver.running == ["A2"]


def test_what_is_waited_for_is_not_exhausted() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", run="make")), max_attempts=1)
    driver.wait("A1")
    driver.fail("A2")
    assert driver.finished is None
    driver.wait_over("A1")
    assert driver.running == ["A1"]


def wait_until_stuck(loop: Loop, **limits: Any) -> Any:
    driver = begun(loop, max_stall_count=99, max_iterations=99, **limits)
    for _ in range(MOST_WAITS):
        driver.wait("A1")
        driver.wait_over("A1")
    return driver


def test_an_atom_may_wait_ten_times_in_a_row() -> None:
    assert MOST_WAITS == 10


def test_waits_are_bounded_and_then_the_atom_is_blocked() -> None:
    driver = wait_until_stuck(a_loop(atom("A1")))
    assert driver.running == ["A1"]
    driver.wait("A1", "rate limit of the model")
    assert driver.running == []
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("blocked:")
    assert "rate limit of the model" in driver.reason


def test_others_go_on_beside_an_atom_that_waited_too_often() -> None:
    driver = wait_until_stuck(a_loop(atom("A1"), atom("A2")))
    driver.wait("A1")
    driver.resolve("A2")
    driver.verdict({"tests": "red"})
    assert driver.reason.startswith("blocked:")


def test_waits_are_counted_in_a_row_only() -> None:
    driver = wait_until_stuck(a_loop(atom("A1")))
    driver.done("A1")
    driver.refuse()
    driver.wait("A1")
    driver.wait_over("A1")
    assert driver.running == ["A1"]


def test_a_correction_lets_an_atom_that_waited_too_often_try_again() -> None:
    driver = wait_until_stuck(a_loop(atom("A1"), atom("A2")))
    driver.wait("A1")
    assert driver.running == ["A2"]
    driver.told(ConstraintsCorrected(constraints=Constraints(), description="another account", at=NOON))
    assert driver.running == ["A1", "A2"]


def test_a_wait_that_ends_without_having_been_is_nothing() -> None:
    driver = begun(a_loop(atom("A1")))
    assert driver.wait_over("A1") == []
    assert driver.wait_over("nobody") == []


# --- proposals ---------------------------------------------------------------------------------------------------


def test_a_proposal_that_is_accepted_replaces_the_attempt_by_its_parts() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.propose("A1", Child(description="first", name="one"), Child(description="second", depends_on=("one",)))
    assert driver.running == ["A3"]
    assert (driver.status("A1"), driver.atom("A1").attempts, driver.loop.trail) == ("pending", 0, [])
    driver.resolve("A3", "A4")
    assert (driver.status("A1"), driver.running) == ("resolved", ["A2"])
    assert driver.loop.bindings["A1"].summary == "Completed via A3, A4 resolution"


PROPOSALS: list[tuple[Loop, dict[str, Any], str]] = [
    (a_loop(atom("A1")), {"max_depth": 0}, "max_depth is 0"),
    (a_loop(atom("A1")), {"max_children": 1}, "more than max_children, 1"),
    (a_loop(atom("A1", run="make"), atom("A2")), {}, "a command has no parts"),
    (speculative(a_loop(atom("A1", or_group="g"), atom("A2", or_group="g")), "g"), {}, "racers are not decomposed"),
    (a_loop(atom("A1", whole=True)), {}, "done in one piece"),
]


@pytest.mark.parametrize(("loop", "limits", "why"), PROPOSALS, ids=[why for _, _, why in PROPOSALS])
def test_a_proposal_that_is_refused_is_a_failed_attempt_with_the_reason(
    loop: Loop, limits: dict[str, Any], why: str
) -> None:
    driver = begun(loop, **limits)
    atoms = len(loop.atoms)
    driver.propose("A1", "first", "second")
    assert driver.atom("A1").failures == 1
    assert "its proposal was refused" in loop.trail[-1].reason
    assert why in loop.trail[-1].reason
    assert (len(loop.atoms), loop.decompositions) == (atoms, [])


def test_a_proposal_that_would_close_a_cycle_is_a_failed_attempt() -> None:
    driver = begun(a_loop(atom("A1"), atom("A2", "A1")))
    driver.propose("A1", Child(description="first", depends_on=("A2",)))
    assert (driver.atom("A1").attempts, driver.running) == (1, ["A1"])
    assert "cycle" in driver.loop.trail[-1].reason


# --- what is over ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "report",
    [
        reports.WorkDone(attempt=99, summary="s", at=NOON),
        reports.WorkFailed(attempt=99, reason="r", at=NOON),
        reports.ChildrenProposed(attempt=99, children=(Child(description="c"),), reason="r", at=NOON),
        reports.ProbeReturned(attempt=99, feasible=False, findings="f", at=NOON),
        reports.MustWait(attempt=99, reason="r", at=NOON),
        reports.Merged(attempt=99, at=NOON),
        reports.MergeRefused(attempt=99, reason="r", at=NOON),
        reports.MergeConflicted(attempt=99, others=("A2",), at=NOON),
        reports.MergeBlocked(attempt=99, reason="r", at=NOON),
        reports.Unblocked(attempt=99, at=NOON),
        reports.Reverted(at=NOON),
        reports.Reverted(problem="p", at=NOON),
        reports.ParentChecked(atom="A1", passed=True, at=NOON),
    ],
    ids=lambda report: type(report).__name__,
)
def test_reports_on_what_is_not_under_way_change_nothing(report: reports.Report) -> None:
    driver = begun(a_loop(atom("A1"), atom("A2")))
    before = contents(driver.loop)
    assert driver.tell(report) == []
    assert contents(driver.loop) == before


@pytest.mark.parametrize("kind", [reports.Merged, reports.MergeConflicted, reports.Unblocked])
def test_an_attempt_that_is_not_being_merged_cannot_have_been(kind: type[reports.OfAttempt]) -> None:
    driver = begun(a_loop(atom("A1")))
    before = contents(driver.loop)
    assert driver.tell(kind(attempt=driver.number("A1"), at=NOON)) == []
    assert contents(driver.loop) == before


# --- what counts as an outcome -----------------------------------------------------------------------------------


@pytest.mark.parametrize("feasible", [False, True])
def test_a_probe_is_an_attempt_whatever_it_says(feasible: bool) -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.probe("A1", feasible=feasible)
    assert (driver.loop.control.tried, driver.loop.control.generation.outcomes) == (1, 1)


def test_a_report_of_nobody_is_no_outcome() -> None:
    driver = begun(a_loop(atom("A1")), max_attempts=9)
    driver.tell(reports.WorkFailed(attempt=99, reason="late", at=NOON))
    driver.wait("A1")
    assert (driver.loop.control.tried, driver.loop.control.stall_count, driver.loop.trail) == (0, 0, [])


def test_parts_that_a_probe_proposes_for_what_is_not_feasible_are_not_taken() -> None:
    driver = begun(a_loop(atom("A1", probe=True)))
    driver.probe("A1", feasible=False, children=(Child(description="a part"),))
    assert (driver.loop.decompositions, driver.atom("A1").failures) == ([], 2)


def test_the_reason_that_is_told_is_that_of_the_last_failure() -> None:
    driver = begun(a_loop(*(atom(one, or_group="g") for one in "WXY")), max_attempts=2)
    driver.fail("W", "first")
    driver.fail("W", "second")
    entry = driver.loop.trail[-1]
    assert (entry.selected, entry.reason, entry.timestamp) == ("X", "W failed: second", NOON)


def test_waits_are_counted_anew_after_a_correction() -> None:
    driver = begun(a_loop(atom("A1")))
    for _ in range(MOST_WAITS):
        driver.wait("A1")
        driver.wait_over("A1")
    driver.told(ConstraintsCorrected(constraints=Constraints(max_iterations=50), description="more", at=NOON))
    driver.wait("A1")
    assert (driver.run.stuck, list(driver.run.waiting)) == ({}, ["A1"])
