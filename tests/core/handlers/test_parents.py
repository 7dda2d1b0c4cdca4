"""A decomposed atom is resolved by what it waits for, once, and as far up as that leads."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.effects import CheckParent, Resolved
from aotloop.core.graph.board import Board
from aotloop.core.handlers.parents import resolve_parents, settle_parent
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, BaseCase, Binding, Check, ChecklistItem, Decomposition, Loop
from aotloop.core.policy.turns import patience
from tests.core.happenings import resolve
from tests.loops import a_loop, atom

PASSES = AtomCheck(type="command", value="true")


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def two_levels(**parent: AtomCheck) -> Loop:
    return a_loop(
        atom("G"), atom("P", **parent), atom("A"), atom("B"), decompositions=[split("G", "P"), split("P", "A", "B")]
    )


def test_it_is_resolved_with_the_last_part_and_so_is_the_whole_above_it() -> None:
    loop = two_levels()
    resolve(loop, "A")
    assert {one.id for one in loop.atoms if one.status == "resolved"} == {"A"}
    resolve(loop, "B")
    assert {one.status for one in loop.atoms} == {"resolved"}
    assert loop.bindings["P"] == Binding(summary="Completed via A, B resolution")
    assert loop.bindings["G"] == Binding(summary="Completed via P resolution")


def test_every_whole_that_is_resolved_counts_as_resolved_in_its_generation() -> None:
    loop = two_levels()
    resolve(loop, "A")
    resolve(loop, "B")
    assert loop.control.generation.resolved == 4


def test_a_whole_with_a_check_of_its_own_is_asked_about_and_nothing_above_it_is_resolved() -> None:
    loop = two_levels(check=PASSES)
    loop.atoms[2:] = [atom("A", status="resolved"), atom("B", status="resolved")]
    assert resolve_parents(Board(loop), "B") == [CheckParent(atom="P")]
    assert settle_parent(Board(loop), "G") == []


def test_a_whole_whose_attempts_are_spent_is_not_asked_about_again() -> None:
    most = patience(a_loop(atom("P")))
    for attempts, asked in ((most - 1, [CheckParent(atom="P")]), (most, [])):
        whole = atom("P", check=PASSES, attempts=attempts)
        loop = a_loop(whole, atom("A", status="resolved"), decompositions=[split("P", "A")])
        assert settle_parent(Board(loop), "P") == asked


def test_a_whole_that_waits_for_two_things_that_are_resolved_at_once_is_told_of_once() -> None:
    loop = a_loop(
        atom("P", check=PASSES), atom("Q", "A"), atom("A", status="resolved"),
        decompositions=[split("P", "A", "Q"), split("Q", "A")],
    )  # fmt: skip
    assert resolve_parents(Board(loop), "A") == [Resolved(atom="Q"), CheckParent(atom="P")]


def test_wholes_come_in_the_order_of_the_file() -> None:
    loop = a_loop(atom("Q"), atom("P"), atom("A", status="resolved"), decompositions=[split("P", "A"), split("Q", "A")])
    assert resolve_parents(Board(loop), "A") == [Resolved(atom="Q"), Resolved(atom="P")]


def test_what_is_resolved_already_or_is_no_atom_is_left_alone() -> None:
    loop = a_loop(
        atom("P", status="resolved"), atom("A", status="resolved"), decompositions=[split("P", "A"), split("gone", "A")]
    )
    board = Board(loop)
    assert settle_parent(board, "P") == settle_parent(board, "gone") == resolve_parents(board, "A") == []
    assert loop.bindings["P"] == Binding(summary="did P")


def test_a_parent_that_only_covers_items_is_checked_by_them() -> None:
    splits = [Decomposition(parent="A1", children=("A2",), reason="parts")]
    loop = a_loop(atom("A1", covers=("command: true",)), atom("A2", status="in_progress"), decompositions=splits)
    assert CheckParent(atom="A1") in advance(loop, events.AtomResolved(atom="A2", at="t"))
    assert loop.atoms[0].status == "pending"


def test_a_parent_whose_items_only_a_judge_decides_is_not_checked() -> None:
    splits = [Decomposition(parent="A1", children=("A2",), reason="parts")]
    judged = BaseCase(checklist=(ChecklistItem(item="nice", check=Check(type="assertion", value="it is nice")),))
    parent, part = atom("A1", covers=("nice",)), atom("A2", status="in_progress")
    loop = a_loop(parent, part, decompositions=splits, base_case=judged)
    assert Resolved(atom="A1") in advance(loop, events.AtomResolved(atom="A2", at="t"))
