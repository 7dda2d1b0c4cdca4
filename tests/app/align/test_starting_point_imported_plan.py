"""An imported plan as a draft: atoms by ids of ours, criteria in words, and never a command."""

from __future__ import annotations

from aotloop.app.align.starting_point import draft_of_plan
from aotloop.importers.plan import Piece, Plan
from tests.loops import a_loop, atom


def piece(label: str, *needs: str, criteria: tuple[str, ...] = ()) -> Piece:
    return Piece(label=label, place="there", text=f"do {label}", needs=needs, criteria=criteria)


def test_pieces_become_atoms_in_order() -> None:
    plan = Plan(pieces=(piece("US-2", "US-9"), piece("US-9", criteria=("rm -rf /", "looks good"))), title="A shop")
    draft = draft_of_plan(plan, "prd.json")
    assert draft.goal == "A shop"
    assert [(one.id, one.description, one.depends_on) for one in draft.atoms] == [
        ("A1", "do US-2", ("A2",)),
        ("A2", "do US-9", ()),
    ]
    assert draft.definition_of_done == "All of prd.json:\n- US-9: rm -rf /\n- US-9: looks good"
    assert draft.base_case is None
    assert [(one.run, one.check) for one in draft.atoms] == [(None, None)] * 2


def test_many_criteria_are_cut_and_none_are_nothing() -> None:
    plan = Plan(pieces=(piece("a", criteria=tuple(f"c{number}" for number in range(50))),))
    lines = draft_of_plan(plan, "x").definition_of_done.split("\n")
    assert (len(lines), lines[-1]) == (42, "- and 10 more, with the atoms")
    assert draft_of_plan(Plan(pieces=(piece("a"),)), "x").definition_of_done == ""


def test_a_piece_in_the_words_of_an_atom_is_that_atom() -> None:
    before = a_loop(atom("A3", description="do b"), atom("A9", description="other"), atom("X", description="do c"))
    plan = Plan(pieces=(piece("a", "b"), piece("b"), piece("c"), piece("d")))
    assert [(one.id, one.depends_on) for one in draft_of_plan(plan, "x", before).atoms] == [
        ("A10", ("A3",)),
        ("A3", ()),
        ("X", ()),
        ("A11", ()),
    ]
