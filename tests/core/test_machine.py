"""`advance` takes in every fact that is possible, refuses every other and then changes nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import _HANDLERS, advance
from aotloop.core.model import AtomCheck, Binding, Constraints, Decomposition, Generation, Loop, OrGroup, Verdict
from aotloop.core.objective import digest_of
from aotloop.errors import IllegalEvent
from tests.core.generated import PASSES, any_events, deep_copy, errors_of, thoroughly, valid_loops
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def start(loop: Loop, atom_id: str) -> list[Effect]:
    return advance(loop, events.AtomStarted(atom=atom_id))


def resolve(loop: Loop, atom_id: str, summary: str | None = "done", *artifacts: str) -> list[Effect]:
    return advance(loop, events.AtomResolved(atom=atom_id, summary=summary, artifacts=artifacts))


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def refusal_of(loop: Loop, event: events.Event) -> str | None:
    try:
        advance(loop, event)
    except IllegalEvent as refusal:
        return refusal.message
    return None


# --- all events --------------------------------------------------------------------------------------------------


def test_every_event_has_its_handler() -> None:
    named = {one for one in vars(events).values() if isinstance(one, type) and issubclass(one, events.Event)}
    declared = named - {events.Event, events.Corrected}
    assert set(_HANDLERS) == declared


@thoroughly
@given(valid_loops(), st.data())
def test_an_event_that_is_refused_changes_nothing(loop: Loop, data: st.DataObject) -> None:
    for _ in range(4):
        event = data.draw(any_events(loop))
        before, entries = deep_copy(loop), loop.snapshot()
        refusal = refusal_of(loop, event)
        if refusal is not None:
            assert refusal.startswith(f"{type(event).__name__} is not possible: ")
            assert deep_copy(loop) == before
            assert all(old is new for old, new in zip(entries.atoms, loop.atoms, strict=True))


@thoroughly
@given(valid_loops(), st.data())
def test_an_event_that_is_taken_in_leaves_a_valid_loop_valid(loop: Loop, data: st.DataObject) -> None:
    for _ in range(4):
        event = data.draw(any_events(loop))
        with suppress(IllegalEvent):
            advance(loop, event)
            assert errors_of(loop) == [], event


@thoroughly
@given(valid_loops(), st.data())
def test_nothing_that_was_undone_keeps_its_result(loop: Loop, data: st.DataObject) -> None:
    for _ in range(4):
        with suppress(IllegalEvent):
            advance(loop, data.draw(any_events(loop)))
    assert not {one.id for one in loop.atoms if one.status == "pending"} & set(loop.bindings)


@given(valid_loops(), st.data())
def test_a_snapshot_taken_before_an_event_does_not_see_it(loop: Loop, data: st.DataObject) -> None:
    earlier, copied = loop.snapshot(), deep_copy(loop)
    with suppress(IllegalEvent):
        advance(loop, data.draw(any_events(loop)))
    assert deep_copy(earlier) == copied


@given(valid_loops(), st.data())
def test_whatever_is_ready_can_start_and_nothing_else(loop: Loop, data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(loop.atoms))
    is_ready = one.id in Graph(loop).ready()
    if is_ready or one.status == "in_progress":
        start(loop, one.id)
        assert statuses(loop)[one.id] == "in_progress"
    else:
        with refused(loop, "AtomStarted is not possible"):
            start(loop, one.id)


@thoroughly
@given(valid_loops(), st.data())
def test_a_parent_whose_last_wait_ends_is_resolved_or_asked_about(loop: Loop, data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(loop.atoms))
    before = Graph(loop.snapshot())
    try:
        effects = resolve(loop, one.id)
    except IllegalEvent:
        return
    after = Graph(loop)
    open_parents = [one for one in after.children_of if before.atoms[one].status != "resolved"]
    freed = {parent for parent in open_parents if before.waits_for(parent) and not after.waits_for(parent)}
    asked = {effect.atom for effect in effects if isinstance(effect, CheckParent)}
    told = {effect.atom for effect in effects if isinstance(effect, Resolved)}
    for parent in freed:
        is_checked = after.atoms[parent].check is not None
        is_spent = after.is_exhausted(parent)
        assert (parent in asked, parent in told) == (is_checked and not is_spent, not is_checked)
        assert after.atoms[parent].status == ("pending" if is_checked else "resolved")


ABOUT_AN_ATOM = [
    events.AtomStarted(atom="A9"),
    events.AtomResolved(atom="A9"),
    events.AtomAbandoned(atom="A9"),
    events.AtomFailed(atom="A9", reason="broke", at="noon"),
    events.BindingWritten(atom="A9", summary="done"),
]


@pytest.mark.parametrize("event", ABOUT_AN_ATOM, ids=lambda one: type(one).__name__)
def test_an_atom_that_does_not_exist_is_named_with_those_that_do(event: events.Event) -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    with refused(loop, f"{type(event).__name__} is not possible: there is no atom A9; there are: A1, A2"):
        advance(loop, event)


# --- starting ----------------------------------------------------------------------------------------------------


def test_a_ready_atom_starts_and_nothing_else_changes() -> None:
    loop = a_loop(atom("A1", attempts=1), atom("A2"))
    assert start(loop, "A1") == []
    assert loop == a_loop(atom("A1", attempts=1, status="in_progress"), atom("A2"))


@pytest.mark.parametrize(
    ("atom_id", "why"),
    [
        ("Q", "Q waits for A1"),
        ("P", "P was decomposed; it resolves by itself when A1 have"),
        ("Y", "group g has selected X, not Y"),
        ("D", "nothing required depends on D"),
    ],
)
def test_what_is_not_ready_does_not_start_and_says_why(atom_id: str, why: str) -> None:
    loop = a_loop(
        atom("A1"),
        atom("Q", "A1"),
        atom("P"),
        atom("X", or_group="g"),
        atom("Y", "D", or_group="g"),
        atom("D"),
        decompositions=[split("P", "A1")],
    )
    with refused(loop, why):
        start(loop, atom_id)


# --- resolving ---------------------------------------------------------------------------------------------------


def test_a_resolved_atom_has_its_result_as_binding() -> None:
    loop = a_loop(atom("A1", status="in_progress"), atom("A2", "A1"))
    assert resolve(loop, "A1", "wrote the parser", "src/parser.py") == []
    assert loop.control.generation == Generation(outcomes=1, resolved=1)
    assert (loop.control.tried, loop.control.won, loop.control.needed) == (1, 1, 1)
    loop.control = a_loop(atom("A1")).control
    assert loop == a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1"),
        bindings={"A1": Binding(summary="wrote the parser", artifacts=("src/parser.py",))},
    )


def test_a_result_written_before_is_kept_when_resolving_says_nothing_new() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    advance(loop, events.BindingWritten(atom="A1", summary="wrote it", artifacts=("a.py",)))
    resolve(loop, "A1", None)
    assert loop.bindings == {"A1": Binding(summary="wrote it", artifacts=("a.py",))}


def test_resolving_again_with_a_summary_rewrites_the_binding_only() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1", status="resolved"))
    assert resolve(loop, "A1", "better") == []
    assert loop.bindings["A1"] == Binding(summary="better")
    assert statuses(loop) == {"A1": "resolved", "A2": "resolved"}


def test_what_was_not_started_cannot_be_resolved() -> None:
    with refused(loop := a_loop(atom("A1")), "A1 is pending; it allows: abandon, start"):
        resolve(loop, "A1")


@pytest.mark.parametrize("status", ["in_progress", "resolved"])
def test_a_result_can_be_written_for_work_that_was_begun(status: Any) -> None:
    loop = a_loop(atom("A1", status=status))
    advance(loop, events.BindingWritten(atom="A1", summary="new", artifacts=("x",)))
    assert loop.bindings == {"A1": Binding(summary="new", artifacts=("x",))}
    assert statuses(loop) == {"A1": status}


def test_no_result_can_be_written_for_pending_work() -> None:
    with refused(loop := a_loop(atom("A1")), "A1 is pending: only work that was begun has a result"):
        advance(loop, events.BindingWritten(atom="A1", summary="new"))


def test_abandoned_work_leaves_no_result_and_counts_as_no_attempt() -> None:
    loop = a_loop(atom("A1", status="in_progress", attempts=1), bindings={"A1": Binding(summary="half")})
    assert advance(loop, events.AtomAbandoned(atom="A1")) == []
    assert loop == a_loop(atom("A1", attempts=1))


# --- parents -----------------------------------------------------------------------------------------------------


def test_the_last_child_resolves_its_parent_with_a_binding_that_names_the_children() -> None:
    loop = a_loop(
        atom("P"), atom("C", status="resolved"), atom("D", status="in_progress"), decompositions=[split("P", "C", "D")]
    )
    assert resolve(loop, "D") == [Resolved(atom="P")]
    assert statuses(loop) == {"P": "resolved", "C": "resolved", "D": "resolved"}
    summary = loop.bindings["P"].summary
    assert "C" in summary
    assert "D" in summary
    assert loop.bindings["P"].artifacts == ()


def test_a_child_that_is_not_the_last_leaves_its_parent_pending() -> None:
    loop = a_loop(atom("P"), atom("C"), atom("D", status="in_progress"), decompositions=[split("P", "C", "D")])
    assert resolve(loop, "D") == []
    assert statuses(loop)["P"] == "pending"
    assert "P" not in loop.bindings


def test_parents_resolve_through_several_levels_and_free_what_waits_for_them() -> None:
    loop = a_loop(
        atom("P"),
        atom("C"),
        atom("D", status="in_progress"),
        atom("E", status="resolved"),
        atom("Q", "P"),
        decompositions=[split("P", "C", "E"), split("C", "D")],
    )
    assert resolve(loop, "D") == [Resolved(atom="C"), Resolved(atom="P")]
    assert statuses(loop)["P"] == "resolved"
    assert loop.bindings["C"].summary.count("D") == 1
    assert Graph(loop).ready() == ["Q"]


def test_a_child_of_two_parents_resolves_both_in_file_order() -> None:
    loop = a_loop(
        atom("C", status="in_progress"), atom("R"), atom("P"), decompositions=[split("P", "C"), split("R", "C")]
    )
    assert resolve(loop, "C") == [Resolved(atom="R"), Resolved(atom="P")]


def test_very_deep_decompositions_resolve_to_the_top() -> None:
    depth = 600
    atoms = [atom(f"A{number}") for number in range(depth)]
    atoms.append(atom(f"A{depth}", status="in_progress"))
    splits = [split(f"A{number}", f"A{number + 1}") for number in range(depth)]
    loop = a_loop(*atoms, decompositions=splits)
    resolve(loop, f"A{depth}")
    assert set(statuses(loop).values()) == {"resolved"}


@pytest.mark.parametrize("listed", ["X", "Y"])
def test_a_parent_is_resolved_by_whichever_choice_of_its_childs_group_is_selected(listed: str) -> None:
    loop = a_loop(
        atom("P"),
        atom("X", or_group="g"),
        atom("Y", or_group="g", status="in_progress"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="Y", failed=("X",))},
        decompositions=[split("P", listed)],
    )
    assert resolve(loop, "Y") == [Resolved(atom="P")]
    assert errors_of(loop) == []


def test_a_parent_with_a_check_is_not_resolved_but_asked_about() -> None:
    loop = a_loop(atom("P", check=PASSES), atom("C", status="in_progress"), decompositions=[split("P", "C")])
    assert resolve(loop, "C") == [CheckParent(atom="P")]
    assert statuses(loop)["P"] == "pending"
    assert "P" not in loop.bindings


def test_a_parent_whose_check_passed_is_resolved_and_so_is_its_own_parent() -> None:
    loop = a_loop(
        atom("G"),
        atom("P", check=PASSES),
        atom("C", status="resolved"),
        decompositions=[split("G", "P"), split("P", "C")],
    )
    assert resolve(loop, "P", None) == [Resolved(atom="P"), Resolved(atom="G")]
    assert statuses(loop) == {"G": "resolved", "P": "resolved", "C": "resolved"}
    assert "C" in loop.bindings["P"].summary


def test_above_a_resolved_parent_a_check_is_asked_for_again() -> None:
    check = AtomCheck(type="file", value="out")
    loop = a_loop(
        atom("G", check=check),
        atom("P"),
        atom("C", status="in_progress"),
        decompositions=[split("G", "P"), split("P", "C")],
    )
    assert resolve(loop, "C") == [Resolved(atom="P"), CheckParent(atom="G")]


def test_a_parent_cannot_be_resolved_before_its_children() -> None:
    loop = a_loop(atom("P"), atom("C"), atom("D", status="resolved"), decompositions=[split("P", "C", "D")])
    with refused(loop, "waits for C"):
        resolve(loop, "P")


def test_a_parent_whose_children_were_done_first_is_resolved_with_its_last_dependency() -> None:
    loop = a_loop(
        atom("D", status="in_progress"),
        atom("P", "D"),
        atom("C", status="resolved"),
        decompositions=[split("P", "C")],
    )
    assert resolve(loop, "D") == [Resolved(atom="P")]
    assert statuses(loop)["P"] == "resolved"


# --- the loop ----------------------------------------------------------------------------------------------------


def test_starting_a_stopped_loop_clears_the_request_to_stop() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    loop.control = replace(loop.control, stop_requested=True, stop_reason="user: enough", iteration=4)
    assert advance(loop, events.LoopStarted()) == []
    control = loop.control
    assert (control.status, control.stop_requested, control.stop_reason) == ("running", False, None)
    assert control.iteration == 4


def test_starting_a_running_loop_does_not_lift_a_request_to_stop() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.StopRequested(reason="user: enough"))
    advance(loop, events.LoopStarted())
    assert (loop.control.stop_requested, loop.control.stop_reason) == (True, "user: enough")


def test_a_request_to_stop_is_a_flag_with_a_reason_and_not_yet_a_stop() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    assert advance(loop, events.StopRequested(reason="user: lunch")) == []
    control = loop.control
    assert (control.status, control.stop_requested, control.stop_reason) == ("running", True, "user: lunch")
    assert statuses(loop) == {"A1": "in_progress"}


def test_a_request_without_a_reason_keeps_the_reason_given_before() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.StopRequested(reason="user: lunch"))
    advance(loop, events.StopRequested())
    advance(loop, events.LoopStopped())
    assert (loop.control.status, loop.control.stop_reason) == ("stopped", "user: lunch")


def test_a_loop_that_stopped_says_why() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.LoopStopped(reason="stalled: nothing moved"))
    assert (loop.control.status, loop.control.stop_reason) == ("stopped", "stalled: nothing moved")


def test_asking_a_stopped_loop_to_stop_changes_nothing() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    before = deep_copy(loop)
    assert advance(loop, events.StopRequested(reason="user: lunch")) == []
    assert deep_copy(loop) == before


@pytest.mark.parametrize("status", ["pending", "completed"])
def test_a_loop_that_does_not_run_cannot_be_asked_to_stop(status: Any) -> None:
    loop = a_loop(atom("A1"), status=status)
    with refused(loop, f"the loop is {status}, not running"):
        advance(loop, events.StopRequested())


# --- the verdict -------------------------------------------------------------------------------------------------


def verdict(*failing: str, digest: str = "d", **more: Any) -> events.VerdictReached:
    return events.VerdictReached(
        verdict=Verdict(passed=not failing, objective_digest=digest, at="noon", failing=failing, **more)
    )


def fewest(loop: Loop) -> int | None:
    assert loop.control.verdict is not None
    return loop.control.verdict.fewest_failing


def test_a_verdict_is_recorded_with_how_many_fail() -> None:
    loop = a_loop(atom("A1"))
    assert advance(loop, verdict("tests", "lint", commit="c1")) == []
    assert loop.control.verdict == Verdict(
        passed=False, objective_digest="d", at="noon", commit="c1", failing=("tests", "lint"), fewest_failing=2
    )


def test_the_fewest_failing_so_far_is_remembered_for_the_same_objective() -> None:
    loop, seen = a_loop(atom("A1")), []
    for failing in (("a", "b"), ("a",), ("a", "b", "c")):
        advance(loop, verdict(*failing))
        seen.append(fewest(loop))
    assert seen == [2, 1, 1]
    advance(loop, verdict())
    assert fewest(loop) == 0


def test_another_objective_begins_to_count_anew() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, verdict("a"))
    advance(loop, verdict("a", "b", "c", digest="other"))
    assert fewest(loop) == 3


def test_rounds_of_repair_are_kept_for_the_same_objective_only() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, verdict("a", repair_rounds={"a": 1}))
    advance(loop, verdict("a"))
    assert loop.control.verdict is not None
    assert loop.control.verdict.repair_rounds == {"a": 1}
    advance(loop, verdict("a", digest="other"))
    assert loop.control.verdict.repair_rounds == {}


def test_a_verdict_recorded_without_a_count_gets_one_from_the_next() -> None:
    loop = a_loop(atom("A1"))
    old = Verdict(passed=False, objective_digest="d", at="dawn", failing=("a",))
    loop.control = replace(loop.control, verdict=old)
    advance(loop, verdict("a", "b"))
    assert fewest(loop) == 2


def test_a_verdict_does_not_change_the_status_of_a_loop() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, verdict())
    assert loop.control.status == "running"


def test_a_later_verdict_about_a_completed_loop_does_not_make_its_file_invalid() -> None:
    loop = judged(passed=True)
    complete(loop)
    with suppress(IllegalEvent):
        advance(loop, verdict("tests", digest=digest_of(loop.objective)))
    assert errors_of(loop) == []


# --- completion --------------------------------------------------------------------------------------------------


def judged(*, passed: bool, digest: str | None = None, commit: str | None = "c1") -> Loop:
    loop = a_loop(atom("A1", status="resolved"))
    digest = digest if digest is not None else digest_of(loop.objective)
    reached = Verdict(passed=passed, objective_digest=digest, at="noon", commit=commit)
    loop.control = replace(loop.control, verdict=reached, stop_reason="user: lunch")
    return loop


def complete(loop: Loop, *, commit: str | None = "c1") -> list[Effect]:
    return advance(loop, events.LoopCompleted(commit=commit))


def test_a_loop_whose_base_case_was_verified_completes() -> None:
    loop = judged(passed=True)
    assert complete(loop) == []
    assert (loop.control.status, loop.control.stop_reason) == ("completed", None)
    assert errors_of(loop) == []


def test_a_project_without_commits_completes_too() -> None:
    loop = judged(passed=True, commit=None)
    complete(loop, commit=None)
    assert loop.control.status == "completed"


def test_a_loop_does_not_complete_without_a_verdict() -> None:
    loop = a_loop(atom("A1", status="resolved"))
    with refused(loop, "no passing verdict is recorded; only a verified base case completes a loop"):
        complete(loop)


def test_a_loop_does_not_complete_with_a_verdict_that_did_not_pass() -> None:
    loop = judged(passed=False)
    with refused(loop, "no passing verdict is recorded"):
        complete(loop)


def test_a_loop_does_not_complete_with_a_verdict_of_another_objective() -> None:
    loop = judged(passed=True, digest="other")
    with refused(loop, "the verdict is of another objective or another commit; verify again"):
        complete(loop)


@pytest.mark.parametrize("commit", ["c2", None])
def test_a_loop_does_not_complete_with_a_verdict_of_another_commit(commit: str | None) -> None:
    loop = judged(passed=True)
    with refused(loop, "the verdict is of another objective or another commit; verify again"):
        complete(loop, commit=commit)


def test_a_loop_whose_objective_changed_after_the_verdict_does_not_complete() -> None:
    loop = judged(passed=True)
    loop.objective = replace(loop.objective, goal="Something else")
    with refused(loop, "verify again"):
        complete(loop)


def test_limits_changed_after_the_verdict_do_not_matter() -> None:
    loop = judged(passed=True)
    loop.objective = replace(loop.objective, constraints=Constraints(max_iterations=1))
    complete(loop)
    assert loop.control.status == "completed"


def test_a_loop_that_never_ran_does_not_complete() -> None:
    loop = judged(passed=True)
    loop.control = replace(loop.control, status="pending")
    with refused(loop, "the loop is pending; it allows: "):
        complete(loop)
