"""A person's corrections: what each changes, resets and records; and that a refused one changes nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import CheckParent, Resolved, Revert
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Binding,
    Check,
    ChecklistItem,
    Constraints,
    Correction,
    Decomposition,
    Generation,
    Loop,
    OrGroup,
    TrailEntry,
    Verdict,
)
from aotloop.errors import IllegalEvent
from tests.core.generated import valid_loops
from tests.loops import a_loop, atom

SAID: dict[str, Any] = {"description": "as the customer said", "at": "noon"}


def worked_on() -> Loop:
    """A1 ← group (X failed, Y resolved) ← A2 resolved ← A3 in progress; A4 is apart."""
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("X", "A1", or_group="g", attempts=2),
        atom("Y", "A1", or_group="g", status="resolved"),
        atom("A2", "Y", status="resolved", attempts=1),
        atom("A3", "A2", status="in_progress", attempts=1),
        atom("A4", status="resolved"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="Y", failed=("X",))},
        trail=[
            TrailEntry(type="failure", atom="X", or_group="g", reason="broke", timestamp="dawn", attempt=2),
            TrailEntry(or_group="g", selected="Y", reason="X failed", timestamp="dawn"),
            TrailEntry(type="failure", atom="A3", reason="slipped", timestamp="dawn", attempt=1),
        ],
    )
    verdict = Verdict(passed=False, objective_digest="d", at="dawn", failing=("a",))
    loop.control = replace(
        loop.control, iteration=4, stall_count=2, prev_pending_count=2, redirect_requested=True, verdict=verdict
    )
    return loop


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


ALL = [
    events.ConstraintsCorrected(constraints=Constraints(max_iterations=50), **SAID),
    events.ScopeExtended(added=events.AtomAdded(description="more"), **SAID),
    events.ScopeReduced(atom="A3", **SAID),
    events.ChoiceForced(or_group="g", choice="X", **SAID),
    events.BindingOverridden(atom="A1", summary="it is otherwise", **SAID),
    events.RetryGranted(atom="A3", **SAID),
]


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
def test_every_correction_ends_what_is_under_way_and_starts_counting_anew(event: events.Corrected) -> None:
    loop = worked_on()
    advance(loop, event)
    assert "in_progress" not in statuses(loop).values()
    assert (loop.control.redirect_requested, loop.control.stall_count, loop.control.epoch) == (False, 0, 1)
    assert (loop.corrections[-1].description, loop.corrections[-1].timestamp) == (SAID["description"], SAID["at"])
    assert [one for one in findings_of(loop) if one.level == "error"] == []


def test_a_new_objective_makes_the_past_invalid_and_keeps_the_results() -> None:
    loop = worked_on()
    objective = replace(loop.objective, goal="Something better", base_case=BaseCase(type="file", value="x"))
    advance(loop, events.ObjectiveCorrected(objective=objective, **SAID))
    assert loop.objective == objective
    assert loop.trail == []
    assert loop.control.verdict is None
    assert (loop.control.iteration, loop.control.prev_pending_count) == (0, -1)
    assert loop.or_groups["g"].failed == ()
    assert [one.attempts for one in loop.atoms] == [0] * 6
    assert set(loop.bindings) == {"A1", "Y", "A2", "A4"}
    assert loop.corrections == [
        Correction(timestamp="noon", type="objective_change", description=SAID["description"], trail_cleared=True)
    ]


def test_a_completed_loop_waits_to_be_started_when_its_objective_changes() -> None:
    loop = a_loop(atom("A1", status="resolved"), status="completed")
    advance(loop, events.ObjectiveCorrected(objective=replace(loop.objective, goal="More"), **SAID))
    assert loop.control.status == "pending"


def test_new_limits_keep_the_trail_and_reset_nothing() -> None:
    loop, before = worked_on(), worked_on()
    advance(loop, events.ConstraintsCorrected(constraints=Constraints(max_iterations=50), **SAID))
    assert loop.objective.constraints.max_iterations == 50
    assert loop.trail == before.trail
    assert [one.attempts for one in loop.atoms] == [one.attempts for one in before.atoms]
    assert (loop.corrections[0].type, loop.corrections[0].trail_cleared) == ("constraint_change", False)


def test_an_added_atom_is_noted_in_the_trail() -> None:
    loop = worked_on()
    advance(loop, events.ScopeExtended(added=events.AtomAdded(description="more", depends_on=("A4",)), **SAID))
    assert loop.atoms[-1].depends_on == ("A4",)
    last = loop.trail[-1]
    assert (last.type, last.atom, last.reason) == ("user_correction", loop.atoms[-1].id, SAID["description"])
    assert (loop.corrections[0].type, loop.corrections[0].trail_cleared) == ("dag_adjustment", False)


def test_a_removed_atom_is_forgotten_by_every_list_that_names_it() -> None:
    loop = a_loop(
        atom("A1"),
        atom("A2", "A1"),
        atom("P"),
        atom("A3", or_group="g"),
        atom("A4", or_group="g"),
        decompositions=[Decomposition(parent="P", children=("A1", "A2"), reason="r")],
    )
    advance(loop, events.ScopeReduced(atom="A1", **SAID))
    advance(loop, events.ScopeReduced(atom="A3", **SAID))
    assert [(one.id, one.depends_on) for one in loop.atoms] == [("A2", ()), ("P", ()), ("A4", ())]
    assert loop.decompositions[0].children == ("A2",)
    assert loop.or_groups == {"g": OrGroup(choices=("A4",), selected="A4")}
    advance(loop, events.ScopeReduced(atom="A4", **SAID))
    assert loop.or_groups == {}
    advance(loop, events.ScopeReduced(atom="A2", **SAID))
    assert loop.decompositions == []
    assert [one for one in findings_of(loop) if one.level == "error"] == []


@pytest.mark.parametrize("checked", [False, True])
def test_taking_out_the_last_unresolved_child_settles_its_parent(checked: bool) -> None:
    check = AtomCheck(type="command", value="true") if checked else None
    loop = a_loop(
        atom("P", check=check),
        atom("A1", status="resolved"),
        atom("A2"),
        decompositions=[Decomposition(parent="P", children=("A1", "A2"), reason="r")],
    )
    effects = advance(loop, events.ScopeReduced(atom="A2", **SAID))
    assert effects == [CheckParent(atom="P") if checked else Resolved(atom="P")]
    assert statuses(loop)["P"] == ("pending" if checked else "resolved")


@pytest.mark.parametrize(
    ("atom_id", "why"),
    [("A1", "only unresolved work"), ("nobody", "there is no atom nobody"), ("P", "was decomposed into C")],
)
def test_what_cannot_be_removed_is_refused_with_the_reason(atom_id: str, why: str) -> None:
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("P"),
        atom("C"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="r")],
    )
    before = deepcopy(loop)
    with pytest.raises(IllegalEvent, match=why):
        advance(loop, events.ScopeReduced(atom=atom_id, **SAID))
    assert loop == before


def test_the_only_atom_stays() -> None:
    with pytest.raises(IllegalEvent, match="at least one"):
        advance(a_loop(atom("A1")), events.ScopeReduced(atom="A1", **SAID))


def test_a_forced_choice_is_unfailed_and_the_old_one_has_not_failed() -> None:
    loop = worked_on()
    advance(loop, events.ChoiceForced(or_group="g", choice="X", **SAID))
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X", failed=())
    assert statuses(loop) == {
        "A1": "resolved", "X": "pending", "Y": "pending", "A2": "pending", "A3": "pending", "A4": "resolved"
    }  # fmt: skip
    assert set(loop.bindings) == {"A1", "A4"}
    assert [one.attempts for one in loop.atoms] == [0] * 6
    assert (loop.trail[-1].type, loop.trail[-1].selected) == ("user_correction", "X")


@pytest.mark.parametrize(
    ("group", "choice", "known"), [("nowhere", "X", "g"), ("g", "A1", "X, Y"), ("g", "nobody", "X, Y")]
)
def test_a_choice_that_is_none_cannot_be_forced(group: str, choice: str, known: str) -> None:
    loop, before = worked_on(), worked_on()
    with pytest.raises(IllegalEvent, match=f"there are: {known}$"):
        advance(loop, events.ChoiceForced(or_group=group, choice=choice, **SAID))
    assert loop == before


def test_an_overridden_result_resets_what_was_built_on_it_and_only_that() -> None:
    loop = worked_on()
    advance(loop, events.BindingOverridden(atom="Y", summary="it is otherwise", artifacts=("b.py",), **SAID))
    assert loop.bindings["Y"] == Binding(summary="it is otherwise", artifacts=("b.py",))
    assert set(loop.bindings) == {"A1", "Y", "A4"}
    assert statuses(loop)["A2"] == "pending"
    assert statuses(loop)["A1"] == "resolved"
    assert [one.reason for one in loop.trail] == ["broke", "X failed"]
    assert (loop.corrections[0].type, loop.corrections[0].trail_cleared) == ("bindings_override", True)


@pytest.mark.parametrize("atom_id", ["A3", "nobody"])
def test_only_a_resolved_atom_has_a_result_to_override(atom_id: str) -> None:
    with pytest.raises(IllegalEvent, match="only a resolved atom"):
        advance(worked_on(), events.BindingOverridden(atom=atom_id, summary="x", **SAID))


def test_a_retry_gives_all_attempts_back_to_a_failed_choice_too() -> None:
    loop = worked_on()
    advance(loop, events.RetryGranted(atom="X", **SAID))
    assert loop.or_groups["g"].failed == ()
    assert {one.id: one.attempts for one in loop.atoms}["X"] == 0
    with pytest.raises(IllegalEvent, match="only unresolved"):
        advance(loop, events.RetryGranted(atom="A1", **SAID))


@pytest.mark.parametrize("base_case", [BaseCase(), BaseCase(checklist=()), BaseCase(type="command", value=" ")])
def test_an_objective_that_nothing_could_prove_is_refused(base_case: BaseCase) -> None:
    loop, before = worked_on(), worked_on()
    with pytest.raises(IllegalEvent):
        advance(loop, events.ObjectiveCorrected(objective=replace(loop.objective, base_case=base_case), **SAID))
    assert loop == before


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(IllegalEvent, match=r"possible: constraints\.max_iterations: 0 is less than 1"):
        advance(worked_on(), events.ConstraintsCorrected(constraints=Constraints(max_iterations=0), **SAID))


@pytest.mark.parametrize("status", ["pending", "completed"])
def test_only_a_loop_that_was_started_is_redirected(status: str) -> None:
    with pytest.raises(IllegalEvent, match="running or stopped"):
        advance(a_loop(atom("A1"), status=status), events.RedirectRequested())


def test_a_request_to_redirect_is_a_flag_until_a_correction_is_applied() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.RedirectRequested())
    assert loop.control.redirect_requested
    advance(loop, events.RetryGranted(atom="A1", **SAID))
    assert not loop.control.redirect_requested


@given(valid_loops(), st.data())
def test_any_correction_of_any_valid_loop_leaves_a_valid_one_or_changes_nothing(
    loop: Loop, data: st.DataObject
) -> None:
    ids = st.sampled_from([one.id for one in loop.atoms])
    groups = st.sampled_from([*loop.or_groups, "nowhere"])
    event = data.draw(
        st.one_of(
            st.builds(events.ScopeReduced, atom=ids, **{name: st.just(value) for name, value in SAID.items()}),
            st.builds(events.RetryGranted, atom=ids, **{name: st.just(value) for name, value in SAID.items()}),
            st.builds(
                events.BindingOverridden,
                atom=ids,
                summary=st.just("s"),
                **{name: st.just(value) for name, value in SAID.items()},
            ),
            st.builds(
                events.ChoiceForced,
                or_group=groups,
                choice=ids,
                **{name: st.just(value) for name, value in SAID.items()},
            ),
        )
    )
    before = deepcopy(loop)
    try:
        advance(loop, event)
    except IllegalEvent:
        assert loop == before
        return
    assert [str(one) for one in findings_of(loop) if one.level == "error"] == []
    assert len(loop.corrections) == len(before.corrections) + 1


# --- what is recorded, and what is said --------------------------------------------------------------------------


@pytest.mark.parametrize("event", ALL[1:4] + ALL[5:], ids=lambda event: type(event).__name__)
def test_what_changes_the_graph_is_an_adjustment_that_the_trail_tells_of(event: events.Corrected) -> None:
    loop = worked_on()
    advance(loop, event)
    assert loop.corrections == [
        Correction(timestamp="noon", type="dag_adjustment", description=SAID["description"], trail_cleared=False)
    ]
    last = loop.trail[-1]
    assert (last.type, last.reason, last.timestamp) == ("user_correction", SAID["description"], "noon")


def test_what_the_trail_tells_of_names_the_atom_and_its_group() -> None:
    loop = worked_on()
    advance(loop, events.RetryGranted(atom="X", **SAID))
    advance(loop, events.ScopeReduced(atom="X", **SAID))
    assert [(one.atom, one.or_group) for one in loop.trail[-2:]] == [("X", "g"), ("X", "g")]
    advance(loop, events.ScopeReduced(atom="A3", **SAID))
    assert (loop.trail[-1].atom, loop.trail[-1].or_group) == ("A3", None)


def test_limits_of_a_new_objective_that_make_no_sense_are_refused() -> None:
    loop, before = worked_on(), worked_on()
    objective = replace(loop.objective, constraints=Constraints(max_attempts=0))
    with pytest.raises(IllegalEvent, match=r"possible: constraints\.max_attempts: 0 is less than 1"):
        advance(loop, events.ObjectiveCorrected(objective=objective, **SAID))
    assert loop == before


def test_of_many_names_eight_are_listed_and_of_none_it_is_said() -> None:
    loop = a_loop(*(atom(f"A{number}") for number in range(12)))
    listed = ", ".join(f"A{number}" for number in range(8))
    with pytest.raises(IllegalEvent, match=f"there is no atom nobody; there are: {listed} and 4 more$"):
        advance(loop, events.ScopeReduced(atom="nobody", **SAID))
    with pytest.raises(IllegalEvent, match=r"there is no group g; there are: none$"):
        advance(loop, events.ChoiceForced(or_group="g", choice="A1", **SAID))


def test_a_choice_that_is_only_named_cannot_be_forced_and_is_not_offered() -> None:
    group = OrGroup(choices=("X", "later", "Y"), selected="X")
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), or_groups={"g": group})
    with pytest.raises(IllegalEvent, match=r"later cannot be chosen for g; there are: X, Y$"):
        advance(loop, events.ChoiceForced(or_group="g", choice="later", **SAID))


@pytest.mark.parametrize(("atom_id", "why"), [("nobody", "nobody is no atom"), ("A1", "A1 is resolved")])
def test_only_what_is_unresolved_is_tried_again(atom_id: str, why: str) -> None:
    with pytest.raises(IllegalEvent, match=f"{why}; only unresolved atoms are tried again"):
        advance(worked_on(), events.RetryGranted(atom=atom_id, **SAID))


# --- choices -----------------------------------------------------------------------------------------------------


def x_y_z(**group: Any) -> Loop:
    """X, Y and Z, of which X is selected."""
    atoms = [atom(one, or_group="g") for one in "XYZ"]
    return a_loop(*atoms, or_groups={"g": OrGroup(**{"choices": ("X", "Y", "Z"), "selected": "X", **group})})


@pytest.mark.parametrize(
    ("group", "selected"),
    [
        ({}, "Y"),
        ({"failed": ("Y",)}, "Z"),
        ({"blamed": {"Y": ()}}, "Z"),
        ({"choices": ("X", "later", "Y", "Z")}, "Y"),
        ({"failed": ("Y",), "blamed": {"Z": ()}}, "Y"),
        ({"selected": "Z"}, "Z"),
    ],
)
def test_without_the_selected_choice_the_first_is_taken_that_was_not_given_up(
    group: dict[str, Any], selected: str
) -> None:
    loop = x_y_z(**group)
    advance(loop, events.ScopeReduced(atom="X", **SAID))
    assert loop.or_groups["g"].selected == selected
    assert Graph(loop).ready() == [selected], "where all had had their turn, another round begins"
    assert loop.or_groups["g"].round == ({"failed", "blamed"} <= set(group))


@pytest.mark.parametrize(
    ("group", "selected"),
    [
        ({"failed": ("X", "Y")}, "Y"),
        ({"blamed": {"X": (), "Y": ()}}, "Y"),
        ({"failed": ("Y",)}, "X"),
        ({"blamed": {"Y": ()}}, "X"),
    ],
)
def test_a_choice_that_is_tried_again_is_selected_where_the_selected_one_was_given_up(
    group: dict[str, Any], selected: str
) -> None:
    loop = x_y_z(**group)
    advance(loop, events.RetryGranted(atom="Y", **SAID))
    assert loop.or_groups["g"].selected == selected


def test_only_what_was_held_against_the_choice_itself_is_forgotten() -> None:
    loop = x_y_z(selected="Z", failed=("X",), blamed={"Y": ("h",)}, won="Z")
    advance(loop, events.RetryGranted(atom="X", **SAID))
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y", "Z"), selected="Z", blamed={"Y": ("h",)})
    advance(loop, events.RetryGranted(atom="Y", **SAID))
    assert loop.or_groups["g"].blamed == {}


def test_a_forced_choice_that_was_done_before_keeps_its_result() -> None:
    loop = x_y_z()
    loop.atoms[1] = replace(loop.atoms[1], status="resolved")
    loop.bindings["Y"] = Binding(summary="did Y")
    advance(loop, events.ChoiceForced(or_group="g", choice="Y", **SAID))
    assert (statuses(loop)["Y"], set(loop.bindings)) == ("resolved", {"Y"})


def test_another_choice_is_another_chance_to_mend_what_failed_with_the_old_one() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("R", repairs="tests"), atom("A")
    )
    verdict = Verdict(passed=False, objective_digest="d", at="dawn", repair_rounds={"tests": 1})
    loop.control = replace(loop.control, verdict=verdict)
    advance(loop, events.ChoiceForced(or_group="g", choice="X", **SAID))
    assert "R" in statuses(loop)
    advance(loop, events.ChoiceForced(or_group="g", choice="Y", **SAID))
    assert list(statuses(loop)) == ["X", "Y", "A"]
    assert loop.control.verdict is not None
    assert loop.control.verdict.repair_rounds == {}


# --- what goes, and what follows ---------------------------------------------------------------------------------


def test_a_removed_atom_leaves_no_half_of_a_result() -> None:
    loop = worked_on()
    loop.bindings["A3"] = Binding(summary="half")
    advance(loop, events.ScopeReduced(atom="A3", **SAID))
    assert "A3" not in loop.bindings


def test_an_overridden_result_takes_along_what_the_trail_says_of_choices_built_on_it() -> None:
    loop = worked_on()
    advance(loop, events.BindingOverridden(atom="A1", summary="it is otherwise", **SAID))
    assert loop.trail == []


def test_a_parent_that_is_settled_settles_the_parent_above_it() -> None:
    loop = a_loop(
        atom("G"), atom("P"), atom("A1", status="resolved"), atom("A2"),
        decompositions=[
            Decomposition(parent="P", children=("A1", "A2"), reason="r"),
            Decomposition(parent="G", children=("P",), reason="r"),
        ],
    )  # fmt: skip
    assert advance(loop, events.ScopeReduced(atom="A2", **SAID)) == [Resolved(atom="P"), Resolved(atom="G")]


def test_a_parent_that_was_resolved_before_is_not_resolved_again() -> None:
    loop = a_loop(
        atom("P", status="resolved"), atom("C", status="resolved"), atom("A1"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="r")],
    )  # fmt: skip
    before = loop.bindings["P"]
    assert advance(loop, events.RetryGranted(atom="A1", **SAID)) == []
    assert loop.bindings["P"] is before


def test_whoever_keeps_a_board_of_the_loop_sees_the_correction() -> None:
    loop = worked_on()
    board = Board(loop)
    assert board.ready() == []
    advance(loop, events.ScopeReduced(atom="A3", **SAID), board)
    advance(loop, events.ScopeExtended(added=events.AtomAdded(description="more"), **SAID), board)
    assert board.ready() == Graph(loop).ready() == ["A5"]
    assert "A3" not in board.atoms


# --- what is held against an atom, and what comes back ----------------------------------------------------------

HELD: dict[str, Any] = {"attempts": 1, "failures": 5, "alike": 3, "partial": True}


def turned(**control: Any) -> Loop:
    """A group in its second round, with everything that is noted of one; Z is built on it."""
    group = OrGroup(
        choices=("X", "Y"), selected="Y", failed=("X",), round=2, seen=("Y",), blames={"X": 1, "Y": 2},
        hints={"X": ("Z",), "Y": ("Z",)},
    )  # fmt: skip
    loop = a_loop(
        atom("X", or_group="g", **HELD), atom("Y", or_group="g", status="resolved", failures=1), atom("Z", "Y", **HELD),
        atom("A", **HELD), or_groups={"g": group},
    )  # fmt: skip
    counted = {"tried": 9, "won": 2, "needed": 4, "shares": 4, "fewest_unresolved": 1, **control}
    loop.control = replace(loop.control, generation=Generation(outcomes=2, least=6), **counted)
    return loop


def held(loop: Loop, atom_id: str) -> dict[str, Any]:
    one = Graph(loop).atoms[atom_id]
    return {name: getattr(one, name) for name in HELD}


NOTHING: dict[str, Any] = {"attempts": 0, "failures": 0, "alike": 0, "partial": False}


def test_a_new_objective_forgets_all_turns_and_counts_attempts_anew() -> None:
    loop = turned()
    advance(loop, events.ObjectiveCorrected(objective=replace(loop.objective, goal="More"), **SAID))
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="Y")
    assert [held(loop, one) for one in ("X", "Y", "Z", "A")] == [NOTHING] * 4
    control = loop.control
    assert (control.tried, control.won, control.needed, control.shares, control.fewest_unresolved) == (0, 0, 0, 4, 2)
    assert control.generation == Generation()


def test_a_completed_loop_with_a_new_objective_reckons_its_shares_when_it_starts() -> None:
    loop = turned(status="completed")
    advance(loop, events.ObjectiveCorrected(objective=replace(loop.objective, goal="More"), **SAID))
    assert (loop.control.status, loop.control.shares) == ("pending", None)


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
def test_after_every_correction_another_generation_begins_and_the_minimum_is_what_is_unresolved_now(
    event: events.Corrected,
) -> None:
    loop = worked_on()
    loop.control = replace(loop.control, generation=Generation(outcomes=2, least=6), fewest_unresolved=0)
    advance(loop, event)
    assert loop.control.generation == Generation()
    assert loop.control.fewest_unresolved == Board(loop).unresolved_count()


def test_a_loop_that_was_never_started_has_no_minimum_after_a_correction() -> None:
    loop = worked_on()
    advance(loop, ALL[0])
    assert (loop.control.fewest_unresolved, loop.control.shares) == (None, None)


def test_a_retry_holds_nothing_against_the_atom_and_gives_a_share_back() -> None:
    loop = turned()
    advance(loop, events.RetryGranted(atom="A", **SAID))
    assert held(loop, "A") == NOTHING
    assert held(loop, "X") == HELD
    assert (loop.control.shares, loop.control.tried) == (5, 9)


@pytest.mark.parametrize(("limit", "allowed"), [(40, 40), (12, 12), (11, 11), (10, 11), (9, 11), (1, 10)])
def test_a_retry_leaves_the_share_of_one_atom_of_a_limit_that_was_set(limit: int, allowed: int) -> None:
    loop = turned()
    loop.objective = replace(loop.objective, constraints=replace(loop.objective.constraints, max_total_attempts=limit))
    assert (loop.control.tried, loop.control.shares) == (9, 4)
    advance(loop, events.RetryGranted(atom="A", **SAID))
    assert attempts_allowed(loop) == allowed


def test_a_retry_of_a_choice_frees_it_and_no_other() -> None:
    loop = turned()
    advance(loop, events.RetryGranted(atom="X", **SAID))
    group = loop.or_groups["g"]
    assert (group.failed, group.blames, group.hints, group.selected) == ((), {"Y": 2}, {"Y": ("Z",)}, "Y")
    assert held(loop, "X") == NOTHING


def test_an_atom_that_a_person_adds_brings_a_share_and_what_is_taken_out_takes_none() -> None:
    loop = turned()
    advance(loop, events.ScopeExtended(added=events.AtomAdded(description="more"), **SAID))
    assert loop.control.shares == 5
    advance(loop, events.ScopeReduced(atom="A", **SAID))
    assert loop.control.shares == 5


def test_before_a_loop_was_started_no_share_is_granted() -> None:
    loop = turned(shares=None)
    advance(loop, events.RetryGranted(atom="A", **SAID))
    assert loop.control.shares is None


def test_a_forced_choice_starts_afresh_and_so_does_what_was_built_on_the_other() -> None:
    loop = turned()
    advance(loop, events.ChoiceForced(or_group="g", choice="X", **SAID))
    assert [held(loop, one) for one in ("X", "Y", "Z")] == [NOTHING] * 3
    group = loop.or_groups["g"]
    assert (group.selected, group.failed, group.blames, group.hints) == ("X", (), {"Y": 2}, {"Y": ("Z",)})


def test_what_is_under_way_keeps_its_failures() -> None:
    loop = a_loop(atom("A", status="in_progress", **HELD))
    advance(loop, ALL[0])
    assert (loop.atoms[0].status, held(loop, "A")) == ("pending", HELD)


def test_a_new_base_case_leaves_no_atom_with_items_that_are_gone() -> None:
    loop = a_loop(atom("A1", covers=("command: true",)), atom("A2"))
    items = (ChecklistItem(item="other", check=Check(type="command", value="true")),)
    wanted = replace(loop.objective, base_case=BaseCase(checklist=items))
    advance(loop, events.ObjectiveCorrected(objective=wanted, description="d", at="t"))
    assert [one.covers for one in loop.atoms] == [(), ()]
    assert [one for one in findings_of(loop) if one.level == "error"] == []


def test_what_a_reopened_atom_contributed_stays_with_a_retry_and_goes_with_what_it_rests_on() -> None:
    loop = a_loop(atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("Z", "X", reopened=True))
    advance(loop, events.RetryGranted(atom="Z", **SAID))
    assert Graph(loop).atoms["Z"].reopened
    effects = advance(loop, events.ChoiceForced(or_group="g", choice="Y", **SAID))
    assert not Graph(loop).atoms["Z"].reopened
    assert effects == [Revert(atoms=("X", "Z"))]
    advance(loop, events.RetryGranted(atom="Z", **SAID))
    assert not Graph(loop).atoms["Z"].reopened, "a retry gives nothing back that is gone"
