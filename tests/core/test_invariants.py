"""Each rule about a loop, with a loop that breaks it and what is then said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from aotloop.core.invariants import findings_of
from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Binding,
    Constraints,
    Decomposition,
    Loop,
    OrGroup,
    TrailEntry,
    Used,
    Verdict,
)
from tests import loops as made
from tests.core.generated import valid_loops
from tests.loops import a_loop, atom

EMPTY = "is empty, so it can never be decided; add at least one item"
NO_DURATION = "is not a length of time; write seconds, or e.g. 90s, 30m, 1h30m"


def errors(loop: Loop) -> list[str]:
    return [str(one) for one in findings_of(loop) if one.level == "error"]


def warnings(loop: Loop) -> list[str]:
    return [str(one) for one in findings_of(loop) if one.level == "warning"]


def grouped(choices: tuple[str, ...] = ("A1", "A2"), selected: str = "A1", **more: Any) -> Loop:
    group = OrGroup(choices=choices, selected=selected, **more)
    return a_loop(atom("A1", or_group="g"), atom("A2", or_group="g"), or_groups={"g": group})


def split(*children: str, parent: str = "P") -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def test_a_plain_loop_has_no_findings() -> None:
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1", or_group="g"),
        atom("A2_alt", "A1", or_group="g"),
        atom("A3", "A2"),
        atom("A4"),
        decompositions=[split("A3", "A2", parent="A4")],
        trail=[TrailEntry(or_group="g", selected="A2", reason="simpler", timestamp="noon")],
    )
    assert findings_of(loop) == []


@given(valid_loops())
def test_loops_made_by_the_rules_have_no_errors(loop: Loop) -> None:
    assert errors(loop) == []


@given(made.loops)
def test_findings_about_any_loop_whatever_are_sentences(loop: Loop) -> None:
    assert all(str(finding).strip() for finding in findings_of(loop))


# --- atoms -------------------------------------------------------------------------------------------------------


def test_a_loop_has_at_least_one_atom() -> None:
    (finding,) = findings_of(a_loop())
    assert str(finding) == "atoms: is empty; a loop needs at least one atom"
    assert finding.missing


def test_ids_are_unique() -> None:
    loop = a_loop(atom("A1"), atom("A2"), atom("A1"))
    assert errors(loop) == ["atoms[0].id: A1 is used 2 times; ids are unique"]
    assert len(errors(a_loop(atom("A1"), atom("A1"), atom("A1")))) == 2


def test_an_id_is_not_blank() -> None:
    assert errors(a_loop(atom(" "))) == ["atoms[0].id: is blank"]


@pytest.mark.parametrize("atom_id", ["A4_alt", "login page", "7", "日本"])
def test_any_other_id_is_legal(atom_id: str) -> None:
    assert errors(a_loop(atom(atom_id), atom("B", atom_id))) == []


def test_a_description_that_says_nothing_is_doubtful() -> None:
    assert warnings(a_loop(atom("A1", description=" "))) == ["atoms[0].description: A1 says nothing about what to do"]


def test_a_dependency_exists() -> None:
    assert errors(a_loop(atom("A1"), atom("A2", "A1", "Z9"))) == ["atoms[1].depends_on: there is no atom Z9"]


def test_a_dependency_that_is_misspelt_is_corrected() -> None:
    loop = a_loop(atom("parser"), atom("A2", "praser"))
    assert errors(loop) == ["atoms[1].depends_on: there is no atom praser; did you mean parser?"]


def test_a_resolved_atom_without_a_binding_is_doubtful() -> None:
    assert warnings(a_loop(atom("A1", status="resolved"), bindings={})) == [
        "atoms[0]: A1 is resolved but has no binding; others cannot see its result"
    ]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"attempts": -1}, "atoms[0].attempts: -1 is less than 0"),
        ({"estimate": -0.5}, "atoms[0].estimate: -0.5 is not a number of minutes"),
        ({"estimate": float("inf")}, "atoms[0].estimate: inf is not a number of minutes"),
        ({"run": "  "}, "atoms[0].run: is blank; give a command or remove the key"),
        ({"check": AtomCheck(group=())}, f"atoms[0].check.group: {EMPTY}"),
        ({"check": AtomCheck(type="command")}, "atoms[0].check.value: a command check needs a value"),
        ({"timeout": "soon"}, f"atoms[0].timeout: 'soon' {NO_DURATION}"),
        ({"timeout": 0}, f"atoms[0].timeout: 0 {NO_DURATION}"),
    ],
)
def test_the_terms_of_an_atom_make_sense(terms: dict[str, Any], said: str) -> None:
    assert errors(a_loop(atom("A1", **terms))) == [said]


def test_terms_at_their_limits_are_fine() -> None:
    check = AtomCheck(type="file", value="x")
    assert findings_of(a_loop(atom("A1", estimate=0, timeout="1s", run="make", check=check, attempts=2))) == []


# --- cycles ------------------------------------------------------------------------------------------------------


def test_a_cycle_is_shown() -> None:
    loop = a_loop(atom("A0"), atom("A1", "A0", "A3"), atom("A2", "A1"), atom("A3", "A2"))
    assert errors(loop) == ["atoms[1].depends_on: dependencies form a cycle: A1 → A3 → A2 → A1"]


def test_an_atom_that_depends_on_itself_is_a_cycle() -> None:
    assert errors(a_loop(atom("A1", "A1"))) == ["atoms[0].depends_on: dependencies form a cycle: A1 → A1"]


def test_a_cycle_through_a_group_names_the_group() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", "Q", or_group="g"), atom("Q", "X"))
    assert errors(loop) == ["atoms[0].depends_on: dependencies form a cycle: X (of g) → Q → X (of g)"]


def test_a_child_that_waits_for_its_parent_is_a_cycle() -> None:
    loop = a_loop(atom("P"), atom("C", "P"), decompositions=[split("C")])
    assert errors(loop) == ["atoms[0].depends_on: dependencies form a cycle: P → C → P"]


# --- groups ------------------------------------------------------------------------------------------------------


def test_the_group_of_an_atom_exists() -> None:
    assert errors(a_loop(atom("A1", or_group="g"), or_groups={})) == ["atoms[0].or_group: there is no group g"]
    loop = a_loop(atom("A1", or_group="h"), atom("A2", or_group="g"), or_groups=grouped(("A2",), "A2").or_groups)
    assert errors(loop) == ["atoms[0].or_group: there is no group h (there are: g)"]


def test_a_group_lists_the_atoms_that_name_it() -> None:
    assert errors(grouped(("A1",))) == ["atoms[1].or_group: group g does not list A2 among its choices"]


def test_an_atom_names_the_group_that_lists_it() -> None:
    loop = a_loop(atom("A1"), or_groups={"g": OrGroup(choices=("A1",), selected="A1")})
    assert errors(loop) == ["or_groups.g.choices[0]: A1 does not name g as its or_group"]


def test_an_atom_is_a_choice_of_one_group_only() -> None:
    loop = grouped()
    loop.or_groups["h"] = OrGroup(choices=("A1",), selected="A1")
    assert "or_groups.h.choices: A1 is already a choice of g" in errors(loop)


def test_a_group_has_choices() -> None:
    loop = a_loop(atom("A1"), or_groups={"g": OrGroup(choices=(), selected="A1")})
    assert errors(loop) == ["or_groups.g.choices: is empty; a group needs at least one choice"]


def test_a_choice_is_listed_once() -> None:
    assert errors(grouped(("A1", "A2", "A1"))) == ["or_groups.g.choices: lists A1 twice"]


def test_what_is_selected_is_a_choice() -> None:
    assert errors(grouped(selected="A3")) == ["or_groups.g.selected: A3 is not among the choices (there are: A1, A2)"]


def test_what_is_selected_is_an_atom() -> None:
    assert errors(grouped(("A1", "A2", "A3"), "A3")) == ["or_groups.g.selected: A3 is not an atom"]


def test_another_choice_that_is_not_an_atom_yet_is_only_doubtful() -> None:
    loop = grouped(("A1", "A2", "A2_alt"))
    assert errors(loop) == []
    assert warnings(loop) == ["or_groups.g.choices[2]: A2_alt is not an atom yet"]


def test_what_is_selected_has_not_failed() -> None:
    assert errors(grouped(failed=("A1",))) == ["or_groups.g.selected: A1 has failed; select one that has not"]


def test_a_group_whose_choices_have_all_failed_is_only_doubtful() -> None:
    loop = grouped(failed=("A2", "A1"))
    assert errors(loop) == []
    assert warnings(loop) == ["or_groups.g.failed: every choice has had its turn; the next start begins another round"]


def test_a_group_is_exhausted_too_when_the_only_choices_left_are_not_atoms_yet() -> None:
    loop = grouped(("A1", "A2", "A3"), failed=("A1", "A2"))
    assert errors(loop) == []
    assert any("the next start begins another round" in one for one in warnings(loop))


def test_what_has_failed_is_a_choice() -> None:
    assert errors(grouped(failed=("A7",))) == ["or_groups.g.failed: A7 is not among the choices (there are: A1, A2)"]


# --- decompositions ----------------------------------------------------------------------------------------------


def test_parent_and_children_of_a_decomposition_exist() -> None:
    loop = a_loop(atom("C"), decompositions=[split("C", "Q7", parent="W")])
    assert errors(loop) == [
        "decompositions[0].parent: there is no atom W",
        "decompositions[0].children: there is no atom Q7",
    ]


def test_a_decomposition_has_children() -> None:
    loop = a_loop(atom("P"), decompositions=[split()])
    assert errors(loop) == ["decompositions[0].children: is empty; a decomposition needs at least one child"]


def test_a_parent_is_not_resolved_before_its_children() -> None:
    loop = a_loop(
        atom("P", status="resolved"), atom("C"), atom("D", status="resolved"), decompositions=[split("C", "D")]
    )
    assert errors(loop) == ["decompositions[0].parent: P is resolved before its children C"]


def test_a_parent_is_never_in_progress() -> None:
    loop = a_loop(atom("P", status="in_progress"), atom("C"), decompositions=[split("C")])
    assert errors(loop) == ["decompositions[0].parent: P is in progress; a decomposed atom is never run"]


def test_a_parent_may_be_resolved_once_its_children_are() -> None:
    loop = a_loop(atom("P", status="resolved"), atom("C", status="resolved"), decompositions=[split("C")])
    assert errors(loop) == []


def test_a_child_that_is_a_choice_counts_as_resolved_with_its_group() -> None:
    group = OrGroup(choices=("C", "C_alt"), selected="C_alt", failed=("C",))
    atoms = [atom("P", status="resolved"), atom("C", or_group="g"), atom("C_alt", or_group="g", status="resolved")]
    loop = a_loop(*atoms, decompositions=[split("C")], or_groups={"g": group})
    assert errors(loop) == []


# --- bindings, trail ---------------------------------------------------------------------------------------------


def test_a_binding_belongs_to_an_atom() -> None:
    assert errors(a_loop(atom("A1"), bindings={"A9": Binding(summary="did it")})) == [
        "bindings.A9: there is no atom A9"
    ]


def test_a_binding_of_a_pending_atom_is_doubtful() -> None:
    assert warnings(a_loop(atom("A1"), bindings={"A1": Binding(summary="did it")})) == [
        "bindings.A1: A1 is pending, yet has a result"
    ]


@pytest.mark.parametrize("named", [{}, {"or_group": "g"}, {"selected": "A1"}])
def test_a_selection_in_the_trail_names_group_and_choice(named: dict[str, Any]) -> None:
    loop = grouped()
    loop.trail.append(TrailEntry(reason="simpler", timestamp="noon", **named))
    assert errors(loop) == ["trail[0]: a selection names its or_group and what was selected"]


@pytest.mark.parametrize("kind", ["failure", "user_correction"])
def test_a_failure_or_a_correction_in_the_trail_need_not_name_a_group(kind: Any) -> None:
    loop = a_loop(atom("A1"), trail=[TrailEntry(reason="broke", timestamp="noon", type=kind)])
    assert findings_of(loop) == []


def test_a_trail_entry_about_a_group_that_is_gone_is_doubtful() -> None:
    loop = a_loop(atom("A1"), trail=[TrailEntry(or_group="old", selected="A1", reason="simpler", timestamp="noon")])
    assert errors(loop) == []
    assert warnings(loop) == ["trail[0].or_group: there is no group old any more"]


# --- objective and control ---------------------------------------------------------------------------------------


def test_problems_of_the_base_case_and_of_limits_are_found() -> None:
    loop = a_loop(atom("A1"), base_case=BaseCase(checklist=()), constraints=Constraints(max_iterations=0))
    assert errors(loop) == [
        "objective.base_case.checklist: is empty, so it can never be decided; add at least one item",
        "objective.constraints.max_iterations: 0 is less than 1",
    ]


@pytest.mark.parametrize(
    ("name", "lowest"), [("iteration", 0), ("stall_count", 0), ("prev_pending_count", -1), ("epoch", 0)]
)
def test_counters_are_not_negative(name: str, lowest: int) -> None:
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, **{name: lowest})
    assert errors(loop) == []
    loop.control = replace(loop.control, **{name: lowest - 1})
    assert errors(loop) == [f"control.{name}: {lowest - 1} is less than {lowest}"]


def test_a_completed_loop_whose_verdict_failed_is_a_contradiction() -> None:
    loop = a_loop(atom("A1"), status="completed")
    loop.control = replace(loop.control, verdict=Verdict(passed=False, objective_digest="d", at="noon"))
    assert errors(loop) == ["control.status: is completed, but the last verdict did not pass"]


def test_a_completed_loop_without_a_verdict_is_doubtful() -> None:
    loop = a_loop(atom("A1"), status="completed")
    assert errors(loop) == []
    assert warnings(loop) == ["control.status: is completed, but no verdict is recorded"]


def test_a_completed_loop_with_a_passing_verdict_is_fine() -> None:
    loop = a_loop(atom("A1"), status="completed")
    loop.control = replace(loop.control, verdict=Verdict(passed=True, objective_digest="d", at="noon"))
    assert findings_of(loop) == []


# --- which place, and how much is said ---------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [-0.01, float("inf"), float("nan")])
def test_what_it_cost_is_an_amount_of_money(cost: float) -> None:
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, cost_usd=cost)
    assert errors(loop) == [f"control.cost_usd: {cost:g} is not an amount of money"]


@pytest.mark.parametrize("kind", ["input", "output", "cache_read", "cache_write", "turns"])
def test_what_was_used_of_models_is_no_less_than_nothing(kind: str) -> None:
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, used=Used(**{kind: -1}))
    assert errors(loop) == [f"control.used.{kind}: is less than 0"]


def test_a_choice_that_is_blamed_is_a_choice() -> None:
    assert [one.split(":")[0] for one in errors(grouped(blamed={"A9": ()}))] == ["or_groups.g.blamed"]


def test_choices_listed_twice_are_told_in_order() -> None:
    listed = [one.partition("choices: ")[2] for one in errors(grouped(("A2", "A1", "A2", "A1")))]
    assert [one for one in listed if one.startswith("lists")] == ["lists A1 twice", "lists A2 twice"]


def test_a_selected_choice_that_is_no_atom_is_told_once() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A2")
    loop = a_loop(atom("A1", or_group="g"), or_groups={"g": group})
    assert [str(one) for one in findings_of(loop)] == ["or_groups.g.selected: A2 is not an atom"]


def test_every_decomposition_is_looked_at_whatever_became_of_those_before() -> None:
    loop = a_loop(
        atom("P"),
        atom("C"),
        atom("Q", status="in_progress"),
        atom("D"),
        decompositions=[split("C"), split("D", parent="Q")],
    )
    assert errors(loop) == ["decompositions[1].parent: Q is in progress; a decomposed atom is never run"]


def test_of_many_names_some_are_told() -> None:
    names = [f"g{number}" for number in range(9)]
    groups = {name: OrGroup(choices=(f"A{name}",), selected=f"A{name}") for name in names}
    loop = a_loop(*(atom(f"A{name}", or_group=name) for name in names), atom("X", or_group="h"), or_groups=groups)
    assert errors(loop) == [f"atoms[9].or_group: there is no group h (there are: {', '.join(names[:8])})"]


@pytest.mark.parametrize(("before", "hint"), [(999, "; did you mean login?"), (1000, "")])
def test_what_was_meant_is_looked_for_among_the_first_thousand_atoms(before: int, hint: str) -> None:
    others = [atom(f"{number}") for number in range(before - 1)]
    loop = a_loop(atom("X", "logn"), *others, atom("login"))
    assert errors(loop) == [f"atoms[0].depends_on: there is no atom logn{hint}"]


def test_a_cycle_is_told_of_where_it_begins_also_if_it_ends_with_another_choice() -> None:
    loop = a_loop(atom("X", "Q", or_group="g"), atom("Y", or_group="g"), atom("Q", "Y"))
    assert errors(loop) == ["atoms[0].depends_on: dependencies form a cycle: X (of g) → Q → Y (of g)"]
