"""What happens to single atoms: probed without a change, resolved, first in a race."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Backtracked, CheckParent, Effect, Resolved, Retry
from aotloop.core.events import AtomProbed, AtomResolved, AtomStarted
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Binding, Constraints, Decomposition, Loop, OrGroup, Prices, TrailEntry
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


@pytest.mark.parametrize(("won", "needed", "counts_for"), [(0, 0, 2), (3, 3, 1), (1, 4, 3)])
def test_a_probe_that_says_no_counts_as_a_turn_and_the_atom_is_tried_all_the_same(
    won: int, needed: int, counts_for: int
) -> None:
    loop = a_loop(atom("A1", status="in_progress", probe=True), constraints=Constraints(max_attempts=9))
    loop.control = replace(loop.control, won=won, needed=needed)
    assert probe(loop, "A1", feasible=False) == [Retry(atom="A1", attempts=counts_for, allowed=counts_for)]
    assert loop.atoms[0] == atom("A1", findings="seen", failures=counts_for, alike=1)
    assert (loop.trail[-1].reason, loop.trail[-1].attempt) == ("not feasible: seen", 1)
    assert Graph(loop).ready() == ["A1"]


@pytest.mark.parametrize("feasible", [True, False])
def test_how_often_probes_said_no_is_remembered(feasible: bool) -> None:
    loop = a_loop(atom("A1", status="in_progress"), atom("A2"))
    probe(loop, "A1", feasible=feasible)
    probe(loop, "A2", feasible=feasible)
    assert loop.control.prices == Prices(negative=0 if feasible else 2)


def test_a_choice_that_a_probe_is_against_gives_way_for_this_turn() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="in_progress", probe=True),
        atom("Y", or_group="g"),
        constraints=Constraints(max_attempts=5),
    )
    assert probe(loop, "X", feasible=False) == [Backtracked(or_group="g", left="X", selected="Y", reset=("X",))]
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X",), seen=("Y",))


def test_a_no_about_a_choice_that_was_not_selected_is_only_held_against_it() -> None:
    loop = a_loop(atom("X", or_group="g", status="in_progress"), atom("Y", or_group="g"))
    assert probe(loop, "Y", feasible=False) == []
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X")
    assert loop.atoms[0].status == "in_progress"
    assert loop.atoms[1] == atom("Y", or_group="g", failures=2, findings="seen")
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


# --- wholes and races --------------------------------------------------------------------------------------------


def test_a_whole_that_is_resolved_says_what_it_is_told_to_say() -> None:
    loop = a_loop(
        atom("P", check=AtomCheck(type="command", value="true")), atom("C", status="resolved"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    event = events.AtomResolved(atom="P", summary="all of it", artifacts=("a.py",))
    assert advance(loop, event) == [Resolved(atom="P")]
    assert loop.bindings["P"] == Binding(summary="all of it", artifacts=("a.py",))
    assert advance(loop, events.AtomResolved(atom="P", summary="in other words")) == []
    assert loop.bindings["P"] == Binding(summary="in other words")
    assert loop.control.generation.resolved == 1


def a_race(*choices: str, speculative: bool = True) -> Loop:
    atoms = [atom(one, or_group="g", status="in_progress") for one in "XY"]
    group = OrGroup(choices=("X", "Y", *choices), selected="X", speculative=speculative)
    half = {one: Binding(summary="half") for one in "XY"}
    return a_loop(*atoms, atom("Z", or_group="g"), or_groups={"g": group}, bindings=half)


def test_only_a_race_is_won() -> None:
    loop = a_race("Z", speculative=False)
    before = loop.or_groups["g"]
    advance(loop, events.AtomResolved(atom="X", summary="done", at="noon"))
    assert loop.or_groups["g"] is before
    assert loop.atoms[1].status == "in_progress"


@pytest.mark.parametrize(("winner", "other"), [("X", "Y"), ("Y", "X")])
def test_the_first_racer_is_selected_and_the_others_have_run_for_nothing(winner: str, other: str) -> None:
    loop = a_race("Z", "later")
    third = loop.atoms[2]
    advance(loop, events.AtomResolved(atom=winner, summary="done", at="noon"))
    assert (loop.or_groups["g"].selected, loop.or_groups["g"].won) == (winner, winner)
    assert {one.id: one.status for one in loop.atoms} == {winner: "resolved", other: "pending", "Z": "pending"}
    assert loop.bindings == {winner: Binding(summary="done")}
    assert loop.atoms[2] is third
    said = TrailEntry(or_group="g", selected="Y", reason="Y was resolved first", timestamp="noon")
    assert loop.trail == ([said] if winner == "Y" else [])


def test_what_was_written_of_an_atom_asks_for_nothing() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    assert advance(loop, events.BindingWritten(atom="A1", summary="half")) == []
