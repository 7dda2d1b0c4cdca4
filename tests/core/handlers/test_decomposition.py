"""Atoms that the machine takes out are gone from every list that names them."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.model import Decomposition, Loop
from tests.core.generated import deep_copy, errors_of
from tests.loops import a_loop, atom


def a_parent() -> Loop:
    return a_loop(
        atom("P"),
        atom("B1", status="resolved"),
        atom("B2", or_group="g"),
        atom("B3", or_group="g"),
        atom("Z", "B1", "P", "B2"),
        decompositions=[Decomposition(parent="P", children=("B1", "B2"), reason="parts")],
    )


def test_atoms_that_are_taken_out_are_named_nowhere_any_more() -> None:
    loop = a_parent()
    take_out(Board(loop), {"B1", "B2", "B3"})
    assert loop.atoms == [atom("P"), atom("Z", "P")]
    assert (loop.decompositions, loop.or_groups, loop.bindings) == ([], {}, {})
    assert errors_of(loop) == []


def test_a_decomposition_loses_only_the_parts_that_went() -> None:
    loop = a_parent()
    take_out(Board(loop), {"B1"})
    assert loop.decompositions == [Decomposition(parent="P", children=("B2",), reason="parts")]
    assert list(loop.or_groups) == ["g"]


def test_what_depended_on_one_of_them_depends_on_what_stands_in_for_it_once() -> None:
    loop = a_parent()
    take_out(Board(loop), {"B1", "B2", "B3"}, instead={"B1": "P", "B2": "P", "B3": "P"})
    assert loop.atoms[-1] == atom("Z", "P")


def test_nothing_to_take_out_changes_nothing() -> None:
    loop = a_parent()
    before = deep_copy(loop)
    take_out(Board(loop), set())
    assert deep_copy(loop) == before


def test_the_board_knows_what_is_gone() -> None:
    loop = a_parent()
    board = Board(loop)
    assert board.ready() == ["B2"]
    take_out(board, {"B1", "B2", "B3"})
    assert board.ready() == Graph(loop).ready() == ["P"]
    assert "B1" not in board.atoms


def test_what_does_not_name_them_is_the_same_as_before() -> None:
    loop = a_loop(
        atom("A"), atom("B", "A"), atom("C"), atom("P"), atom("Q"),
        decompositions=[
            Decomposition(parent="P", children=("A",), reason="parts"),
            Decomposition(parent="Q", children=("C",), reason="parts"),
        ],
    )  # fmt: skip
    unnamed = [loop.atoms[0], loop.atoms[1], loop.atoms[4], loop.decompositions[0]]
    take_out(Board(loop), {"C"})
    now = [loop.atoms[0], loop.atoms[1], loop.atoms[3], loop.decompositions[0]]
    assert all(one is other for one, other in zip(now, unnamed, strict=True))


def test_the_decomposition_of_one_that_goes_goes_with_it_and_the_parts_stay() -> None:
    loop = a_parent()
    take_out(Board(loop), {"P"})
    assert loop.decompositions == []
    assert [one.id for one in loop.atoms] == ["B1", "B2", "B3", "Z"]


def test_a_group_goes_with_the_last_of_its_choices_and_not_before() -> None:
    loop = a_parent()
    take_out(Board(loop), {"B2", "B3"})
    assert loop.or_groups == {}


def test_what_the_atoms_that_went_had_said_of_a_choice_is_forgotten_and_nothing_else() -> None:
    loop = a_loop(*(atom(one) for one in "ABCD"), *(atom(one, or_group="g") for one in "XYZ"))
    said = {"X": ("A", "B", "tests"), "Y": ("C",), "Z": ("D",)}
    loop.or_groups["g"] = replace(loop.or_groups["g"], hints=said)
    take_out(Board(loop), {"A", "C"})
    assert loop.or_groups["g"].hints == {"X": ("B", "tests"), "Z": ("D",)}


def test_a_group_of_which_no_one_that_went_spoke_is_the_very_same() -> None:
    loop = a_loop(atom("A"), atom("B"), atom("X", or_group="g"), atom("Y", or_group="g"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], hints={"X": ("B",)})
    before = loop.or_groups["g"]
    take_out(Board(loop), {"A"})
    assert loop.or_groups["g"] is before
