"""The gate opens for a loop that was agreed on, is valid and waits; else it names what is missing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.findings import Finding, error, warning
from aotloop.core.gate import Gate, gate_of
from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from aotloop.core.invariants import findings_of
from aotloop.core.model import (
    Atom,
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Decomposition,
    Generation,
    Loop,
)
from tests.loops import a_loop, atom


def gate(loop: Loop) -> Gate:
    return gate_of(loop, findings_of(loop))


def a_pending_loop(*atoms: Atom, **more: Any) -> Loop:
    return a_loop(*(atoms or (atom("A1"),)), status="pending", **more)


def agreeing(**objective: Any) -> Loop:
    loop = a_pending_loop()
    loop.objective = replace(loop.objective, **objective)
    return loop


# --- open --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "stopped"])
def test_a_loop_that_was_agreed_on_and_waits_may_start(status: Any) -> None:
    opened = gate(a_loop(atom("A1"), status=status))
    assert opened == Gate(ready=True, missing=(), status=status, warnings=())


def test_warnings_do_not_shut_the_gate() -> None:
    loop = a_pending_loop()
    opened = gate_of(loop, [warning(("trail",), "is odd")])
    assert opened.ready
    assert opened.warnings == ("trail: is odd",)


# --- shut: something is missing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["goal", "background_intent", "deliverables", "definition_of_done"])
@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_what_was_not_agreed_on_is_missing(name: str, blank: str) -> None:
    shut = gate(agreeing(**{name: blank}))
    assert not shut.ready
    assert shut.missing == (f"objective.{name}",)


def test_all_that_is_missing_is_named_at_once() -> None:
    loop = agreeing(goal="", background_intent="", deliverables=" ", definition_of_done="", base_case=BaseCase())
    loop.atoms.clear()
    assert gate(loop).missing == (
        "objective.base_case",
        "atoms",
        "objective.goal",
        "objective.background_intent",
        "objective.deliverables",
        "objective.definition_of_done",
    )


@pytest.mark.parametrize(
    ("base_case", "missing"),
    [
        (BaseCase(), "objective.base_case"),
        (BaseCase(type="command"), "objective.base_case.value"),
        (BaseCase(type="file", value="  "), "objective.base_case.value"),
        (BaseCase(type="quality", pass_threshold=3), "objective.base_case"),
        (BaseCase(type="quality", criteria="", pass_threshold=3), "objective.base_case.criteria"),
        (BaseCase(type="quality", criteria="short"), "objective.base_case.pass_threshold"),
    ],
)
def test_an_incomplete_base_case_is_missing_by_key(base_case: BaseCase, missing: str) -> None:
    assert gate(agreeing(base_case=base_case)).missing == (missing,)


def test_what_is_missing_deep_in_a_checklist_is_named_by_its_whole_path() -> None:
    fine = ChecklistItem(item="fine", check=Check(type="command", value="true"))
    bare = ChecklistItem(item="bare", check=Check(type="not_command"))
    loop = agreeing(base_case=BaseCase(checklist=(fine, ChecklistItem(item="all", group=(fine, bare)))))
    assert gate(loop).missing == ("objective.base_case.checklist[1].group[1].check.value",)


def test_a_loop_without_atoms_may_not_start() -> None:
    loop = a_pending_loop()
    loop.atoms.clear()
    assert (gate(loop).ready, gate(loop).missing) == (False, ("atoms",))


# --- shut: something is wrong ------------------------------------------------------------------------------------


def test_an_empty_checklist_keeps_the_gate_shut_with_a_sentence() -> None:
    assert gate(agreeing(base_case=BaseCase(checklist=()))).missing == (
        "objective.base_case.checklist: is empty, so it can never be decided; add at least one item",
    )


@pytest.mark.parametrize("status", ["running", "completed"])
def test_only_a_loop_that_waits_may_start(status: Any) -> None:
    shut = gate_of(a_loop(atom("A1"), status=status), [])
    assert not shut.ready
    assert shut.status == status
    assert shut.missing == (f"the loop is {status}; only a pending or stopped loop can start",)


def test_an_invalid_graph_keeps_the_gate_shut() -> None:
    shut = gate(a_pending_loop(atom("A1", "A2"), atom("A2", "A1")))
    assert shut.missing == ("atoms[0].depends_on: dependencies form a cycle: A1 → A2 → A1",)


def test_a_file_that_cannot_be_read_has_no_status_and_may_not_start() -> None:
    broken = Finding("error", ("control",), "is missing", line=2, column=1, missing=True)
    unread = Finding("error", (), "is no YAML", line=9, column=4, missing=True)
    assert gate_of(None, [broken, unread]) == Gate(
        ready=False, missing=("control", "line 9, column 4: is no YAML"), status=None
    )


def test_a_file_without_a_loop_may_not_start_even_if_nothing_was_found() -> None:
    assert not gate_of(None, []).ready


def test_an_error_keeps_its_line_in_what_is_said() -> None:
    wrong = Finding("error", ("atoms", 0, "id"), "is blank", line=7, column=9)
    assert gate_of(a_pending_loop(), [wrong]).missing == ("line 7, column 9: atoms[0].id: is blank",)


def test_errors_and_warnings_are_kept_apart() -> None:
    shut = gate_of(a_pending_loop(), [warning(("a",), "w"), error(("b",), "e")])
    assert (shut.missing, shut.warnings) == (("b: e",), ("a: w",))


# --- do the limits go together? ----------------------------------------------------------------------------------


def checked(*ids: str) -> list[Atom]:
    """Each has a check, so that only its limits can be doubtful."""
    return [replace(atom(one), check=AtomCheck(type="file", value=one)) for one in ids]


def warnings_of(*atoms: Atom, control: dict[str, Any] | None = None, **constraints: Any) -> list[str]:
    loop = a_loop(*atoms, status="stopped", constraints=Constraints(**constraints))
    loop.control = replace(loop.control, **(control or {}))
    opened = gate(loop)
    assert opened.ready
    return [one.removeprefix("objective.constraints.") for one in opened.warnings]


FIVE = checked("A1", "A2", "A3", "A4", "A5")


@pytest.mark.parametrize("effort", ["low", "normal", "high"])
def test_what_effort_sets_goes_together(effort: Any) -> None:
    for atoms in (checked("A1"), FIVE, checked(*(f"A{number}" for number in range(1, 60)))):
        assert warnings_of(*atoms, effort=effort) == []


def test_fewer_attempts_than_atoms_are_doubtful() -> None:
    assert warnings_of(*FIVE, max_total_attempts=5) == []
    assert warnings_of(*FIVE, max_total_attempts=4) == [
        "max_total_attempts: 5 atoms need one attempt each; of 4 attempts 4 are left"
    ]


def test_attempts_that_were_made_are_not_left() -> None:
    assert warnings_of(*FIVE, max_total_attempts=50, control={"tried": 45}) == []
    assert warnings_of(*FIVE, max_total_attempts=50, control={"tried": 47}) == [
        "max_total_attempts: 5 atoms need one attempt each; of 50 attempts 3 are left"
    ]
    assert warnings_of(*FIVE, control={"tried": 48, "shares": 5}) == [
        "effort: 5 atoms need one attempt each; of 50 attempts 2 are left"
    ]


def test_what_is_resolved_and_what_is_not_selected_needs_no_attempt() -> None:
    resolved = [replace(one, status="resolved") for one in FIVE[:3]]
    done = [one for one in warnings_of(*resolved, *FIVE[3:], max_total_attempts=2) if "binding" not in one]
    assert done == []
    choices = [replace(one, or_group="g") for one in FIVE]
    assert warnings_of(*choices, max_total_attempts=1) == []


def test_a_decomposed_parent_needs_no_attempt_of_its_own() -> None:
    loop = a_loop(*FIVE[:3], status="pending", constraints=Constraints(max_total_attempts=2))
    assert len(gate(loop).warnings) == 1
    loop.decompositions = [Decomposition(parent="A1", children=("A2", "A3"), reason="parts")]
    assert gate(loop).warnings == ()


def test_a_turn_longer_than_all_attempts_is_doubtful() -> None:
    assert warnings_of(*FIVE[:1], max_attempts=9, max_total_attempts=9) == []
    assert warnings_of(*FIVE[:1], max_attempts=10, max_total_attempts=9) == [
        "max_attempts: 10 failures in a row are more than all 9 attempts of max_total_attempts"
    ]
    assert warnings_of(*FIVE[:1], max_attempts=10) == []
    assert warnings_of(*FIVE[:1], max_attempts=11) == [
        "max_attempts: 11 failures in a row are more than all 10 attempts of `effort: normal`"
    ]


def test_a_loop_that_is_only_to_be_short_is_not_doubtful() -> None:
    assert warnings_of(*FIVE, max_iterations=1) == []
    assert warnings_of(*FIVE, max_iterations=1, max_stall_count=1) == []


SIZE = least_outcomes(Graph(a_loop(*FIVE)), [one.id for one in FIVE])
"""Attempts in an iteration, at first, of atoms that can each be done in one way."""


def test_iterations_that_end_before_many_attempts_are_made_are_doubtful() -> None:
    few = (150 - 1) // SIZE
    assert warnings_of(*FIVE, effort="high", max_iterations=few + 1) == []
    told = f"max_iterations: iterations are over after about {few * SIZE} attempts ({few} iterations)"
    assert warnings_of(*FIVE, effort="high", max_iterations=few) == [
        f"{told}, so that the 150 attempts that are left cannot be made"
    ]
    assert warnings_of(*FIVE, max_total_attempts=3 * SIZE, max_iterations=3) == []
    assert len(warnings_of(*FIVE, max_total_attempts=3 * SIZE + 1, max_iterations=3)) == 1


def test_a_longer_generation_is_reckoned_with() -> None:
    """Two ways to do it: twice as many attempts in each iteration."""
    ways = [replace(one, or_group="g") for one in FIVE[:2]]
    assert len(warnings_of(*FIVE[2:], max_total_attempts=2 * SIZE, max_iterations=1)) == 1
    assert warnings_of(*ways, *FIVE[2:], max_total_attempts=2 * SIZE, max_iterations=1) == []


def test_iterations_that_were_used_are_not_left() -> None:
    assert warnings_of(*FIVE, control={"iteration": 19}) == []
    assert warnings_of(*FIVE, control={"iteration": 20}) == [
        "max_iterations: 20 iterations were made, 20 are allowed: none is left"
    ]
    assert warnings_of(*FIVE, max_iterations=7, control={"iteration": 9}) == [
        "max_iterations: 9 iterations were made, 7 are allowed: none is left"
    ]


def test_an_iteration_that_is_not_over_is_left() -> None:
    begun = Generation(outcomes=2, least=6)
    assert warnings_of(*FIVE, control={"iteration": 20, "generation": begun}) == []


def test_few_stalls_beside_high_effort_are_doubtful() -> None:
    assert warnings_of(*FIVE, effort="high", max_stall_count=3) == []
    told = f"max_stall_count: 2 beside `effort: high`, which has 5, ends the loop after {2 * SIZE} attempts in vain"
    assert warnings_of(*FIVE, effort="high", max_stall_count=2) == [f"{told}, of 150 that are left"]


def test_a_loop_that_may_not_start_is_not_told_that_its_limits_do_not_fit() -> None:
    loop = a_pending_loop(*FIVE, constraints=Constraints(max_total_attempts=1))
    loop.objective = replace(loop.objective, goal="")
    assert gate(loop).warnings == ()


# --- what has no check -------------------------------------------------------------------------------------------


def item(name: str, **check: Any) -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(**(check or {"type": "command", "value": "true"})))


def with_items(*atoms: Atom, items: tuple[ChecklistItem, ...] = ()) -> tuple[str, ...]:
    loop = a_pending_loop(*atoms)
    loop.objective = replace(loop.objective, base_case=BaseCase(checklist=items or (item("works"),)))
    opened = gate(loop)
    assert opened.ready
    return opened.warnings


UNCHECKED = "no check (%s); let `covers` name the items of the base case that each of them makes true"


def test_atoms_without_a_check_are_named_in_one_line() -> None:
    assert with_items(atom("A1"), atom("A2"), *checked("A3")) == (f"atoms: 2 atoms have {UNCHECKED % 'A1, A2'}",)
    assert with_items(atom("A1"), *checked("A3")) == (f"atoms: 1 atom has {UNCHECKED % 'A1'}",)
    (many,) = with_items(*(atom(f"A{number}") for number in range(1, 21)))
    assert many.startswith("atoms: 20 atoms have no check (A1, A2, A3, A4, A5, A6, A7, A8 and 12 more); ")


def test_what_is_covered_run_mended_split_or_done_needs_no_check_of_its_own() -> None:
    covering = replace(atom("A1"), covers=("works",))
    command = replace(atom("A2"), run="true")
    mending = replace(atom("A3"), repairs="works")
    assert with_items(covering, command, mending) == ()
    loop = a_pending_loop(atom("A1"), *checked("A2", "A3"))
    loop.decompositions = [Decomposition(parent="A1", children=("A2", "A3"), reason="parts")]
    assert gate(loop).warnings == ()


def test_a_single_atom_is_told_by_the_base_case() -> None:
    assert with_items(atom("A1")) == ()
    assert with_items(atom("A1", or_group="g"), atom("A2", or_group="g")) == ()


def test_an_item_that_needs_a_judge_is_no_check_of_an_atom() -> None:
    items = (item("works"), item("reads well", type="assertion", value="it reads well"))
    both = [replace(atom(one), covers=("reads well",)) for one in ("A1", "A2")]
    assert with_items(*both, items=items) == (f"atoms: 2 atoms have {UNCHECKED % 'A1, A2'}",)
    helped = [replace(one, covers=("reads well", "works")) for one in both]
    assert with_items(*helped, items=items) == ()


def test_a_name_that_two_items_have_is_doubtful_only_for_those_that_cover_it() -> None:
    items = (item("works"), ChecklistItem(item="all", group=(item("works"), item("else"))))
    assert with_items(*checked("A1"), items=items) == ()
    assert with_items(replace(atom("A1"), covers=("works",)), items=items) == (
        "objective.base_case: 2 items are called 'works'; A1 must make all of them true. Give them names of their own",
    )


def test_an_item_that_is_not_there_keeps_the_gate_shut() -> None:
    loop = a_pending_loop(replace(atom("A1"), covers=("wroks", "zzz")))
    loop.objective = replace(loop.objective, base_case=BaseCase(checklist=(item("works"),)))
    assert gate(loop).missing == (
        "atoms[0].covers: the base case has no item 'wroks'; did you mean works?",
        "atoms[0].covers: the base case has no item 'zzz'",
    )


def test_a_cycle_that_it_was_not_told_of_does_no_harm() -> None:
    assert gate_of(a_pending_loop(atom("A1", "A2"), atom("A2", "A1"), atom("A3", "A1")), []).ready


def test_without_atoms_nothing_is_too_much() -> None:
    loop = a_pending_loop(constraints=Constraints(max_iterations=1))
    loop.atoms = []
    loop.control = replace(loop.control, iteration=1)
    assert gate_of(loop, []).warnings == ()


@pytest.mark.parametrize(("count", "end"), [(8, "A8); "), (9, "A8 and 1 more); ")])
def test_of_many_without_a_check_eight_are_named(count: int, end: str) -> None:
    (told,) = gate(a_pending_loop(*(atom(f"A{number}") for number in range(1, count + 1)))).warnings
    assert end in told


def test_what_is_resolved_needs_no_check_any_more() -> None:
    done = atom("A1", status="resolved")
    loop = a_loop(done, *checked("A2", "A3"), status="pending")
    assert gate(loop).warnings == ()
