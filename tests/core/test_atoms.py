"""Probing: somebody looked, without changing anything, whether an atom can be done."""

from __future__ import annotations

from aotloop.core.effects import Backtracked, CheckParent, Effect, Exhausted, Retry
from aotloop.core.events import AtomProbed, AtomResolved, AtomStarted
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Constraints, Decomposition, Loop, OrGroup
from tests.core.generated import errors_of
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def probe(loop: Loop, atom_id: str, *, feasible: bool = True, estimate: float | None = None) -> list[Effect]:
    return advance(loop, AtomProbed(atom=atom_id, feasible=feasible, findings="seen", estimate=estimate, at="noon"))


def test_a_feasible_atom_is_pending_with_what_was_found_and_asks_for_no_other_probe() -> None:
    loop = a_loop(atom("A1", status="in_progress", probe=True))
    assert probe(loop, "A1", estimate=5.0) == []
    assert loop.atoms == [atom("A1", findings="seen", estimate=5.0)]
    assert loop.trail == []


def test_a_probe_that_says_nothing_about_the_cost_leaves_the_estimate() -> None:
    loop = a_loop(atom("A1", status="in_progress", estimate=3.0))
    probe(loop, "A1")
    assert loop.atoms[0].estimate == 3.0


def test_an_infeasible_atom_has_failed_once() -> None:
    loop = a_loop(atom("A1", status="in_progress", probe=True))
    assert probe(loop, "A1", feasible=False) == [Retry(atom="A1", attempts=1, allowed=2)]
    assert (loop.atoms[0].status, loop.atoms[0].findings, loop.atoms[0].probe) == ("pending", "seen", False)
    assert loop.trail[-1].reason == "not feasible: seen"


def test_an_infeasible_atom_with_its_last_attempt_is_exhausted() -> None:
    loop = a_loop(atom("A1", status="in_progress", attempts=1))
    assert probe(loop, "A1", feasible=False) == [Exhausted(atom="A1")]


def test_an_infeasible_choice_has_failed_for_good_whatever_attempts_are_left() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="in_progress", probe=True),
        atom("Y", or_group="g"),
        constraints=Constraints(max_attempts=5),
    )
    assert probe(loop, "X", feasible=False) == [Backtracked(or_group="g", left="X", selected="Y", reset=("X",))]
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X",))


def test_an_infeasible_choice_that_was_not_selected_is_ruled_out_and_nothing_else_changes() -> None:
    loop = a_loop(atom("X", or_group="g", status="in_progress"), atom("Y", or_group="g"))
    assert probe(loop, "Y", feasible=False) == []
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X", failed=("Y",))
    assert (loop.atoms[0].status, loop.atoms[1].attempts) == ("in_progress", 0)
    assert (loop.trail[-1].type, loop.trail[-1].atom, loop.trail[-1].attempt) == ("failure", "Y", None)
    assert errors_of(loop) == []


def test_a_feasible_choice_that_was_not_selected_is_only_described() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"))
    assert probe(loop, "Y", estimate=2.0) == []
    assert loop.atoms[1] == atom("Y", or_group="g", findings="seen", estimate=2.0)
    assert loop.or_groups["g"].selected == "X"


def test_about_a_resolved_atom_there_is_nothing_to_find_out() -> None:
    loop = a_loop(atom("A1", status="resolved"))
    with refused(loop, "A1 is resolved; there is nothing to find out"):
        probe(loop, "A1")


def test_a_commit_is_remembered_with_the_atom_it_resolved() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    advance(loop, AtomResolved(atom="A1", summary="done", commit="c1"))
    assert loop.control.last_sha == "c1"


def test_the_check_of_a_parent_is_asked_for_once() -> None:
    """Both what it depends on and its part are resolved by the same atom."""
    loop = a_loop(
        atom("C"),
        atom("P"),
        atom("Q", "P", check=AtomCheck(type="command", value="true")),
        decompositions=[
            Decomposition(parent="P", children=("C",), reason="parts"),
            Decomposition(parent="Q", children=("C",), reason="parts"),
        ],
    )
    advance(loop, AtomStarted(atom="C"))
    effects = advance(loop, AtomResolved(atom="C", summary="done"))
    assert [one for one in effects if isinstance(one, CheckParent)] == [CheckParent(atom="Q")]
