"""The gate opens for a loop that was agreed on, is valid and waits; else it names what is missing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.findings import Finding, error, warning
from aotloop.core.gate import Gate, gate_of
from aotloop.core.invariants import findings_of
from aotloop.core.model import Atom, BaseCase, Check, ChecklistItem, Constraints, Decomposition, Loop, OrGroup
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
    assert shut.missing == (f"control.status is {status}; it has to be pending or stopped",)


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


# --- does it fit? ------------------------------------------------------------------------------------------------


def limits(iterations: int, parallel: int = 3) -> Constraints:
    return Constraints(max_iterations=iterations, max_parallel_agents=parallel)


def chain(length: int) -> list[Atom]:
    return [atom(f"A{number}", *([f"A{number - 1}"] if number > 1 else [])) for number in range(1, length + 1)]


def warnings_with(*atoms: Atom, iterations: int, parallel: int = 3, **more: Any) -> tuple[str, ...]:
    opened = gate(a_pending_loop(*atoms, constraints=limits(iterations, parallel), **more))
    assert opened.ready
    return opened.warnings


def test_a_chain_longer_than_the_iterations_is_doubtful() -> None:
    assert warnings_with(*chain(3), iterations=3) == ()
    (warned,) = warnings_with(*chain(3), iterations=2)
    assert warned == (
        "objective.constraints.max_iterations: 3 atoms, 3 of them in one chain, need at least 3 iterations"
        " with 3 in parallel; 2 are left"
    )


def test_more_atoms_than_can_be_worked_on_is_doubtful() -> None:
    alone = [atom(f"A{number}") for number in range(1, 6)]
    assert warnings_with(*alone, iterations=3, parallel=2) == ()
    (warned,) = warnings_with(*alone, iterations=2, parallel=2)
    assert "5 atoms, 1 of them in one chain, need at least 3 iterations with 2 in parallel; 2 are left" in warned


def test_iterations_that_were_used_are_not_left() -> None:
    loop = a_loop(*chain(3), status="stopped", constraints=limits(20))
    loop.control = replace(loop.control, iteration=18)
    (warned,) = gate(loop).warnings
    assert warned.endswith("need at least 3 iterations with 3 in parallel; 2 are left")
    loop.control = replace(loop.control, iteration=25)
    assert gate(loop).warnings[0].endswith("; 0 are left")


def test_what_is_resolved_needs_no_iteration() -> None:
    first, *others = chain(3)
    assert warnings_with(replace(first, status="resolved"), *others, iterations=2) == ()


def test_a_decomposed_parent_needs_no_iteration_of_its_own() -> None:
    splits = [Decomposition(parent="P", children=("A1", "A2"), reason="parts")]
    assert warnings_with(atom("P"), *chain(2), iterations=2, decompositions=splits) == ()
    assert len(warnings_with(atom("P"), *chain(2), iterations=1, decompositions=splits)) == 1


def test_choices_that_are_not_selected_need_no_iteration() -> None:
    choices = [atom(f"A{number}", or_group="g") for number in range(1, 5)]
    assert warnings_with(*choices, iterations=1, parallel=1) == ()


def test_a_chain_through_a_choice_that_is_not_selected_is_no_chain() -> None:
    group = {"g": OrGroup(choices=("X", "Y"), selected="X")}
    atoms = [
        atom("D"),
        atom("X", or_group="g", status="resolved"),
        atom("Y", "D", or_group="g"),
        atom("Q", "X"),
        atom("D2", "D"),
    ]
    assert warnings_with(*atoms, atom("Q2", "Q"), iterations=2, or_groups=group) == ()


def test_a_loop_that_may_not_start_is_not_told_that_it_does_not_fit() -> None:
    loop = a_pending_loop(*chain(3), constraints=limits(1))
    loop.objective = replace(loop.objective, goal="")
    assert gate(loop).warnings == ()


def test_a_cycle_that_it_was_not_told_of_does_no_harm() -> None:
    assert gate_of(a_pending_loop(atom("A1", "A2"), atom("A2", "A1"), atom("A3", "A1")), []).ready


def test_without_atoms_nothing_is_too_much() -> None:
    loop = a_pending_loop(constraints=Constraints(max_iterations=1))
    loop.atoms = []
    loop.control = replace(loop.control, iteration=1)
    assert gate_of(loop, []).warnings == ()
