"""Growth is neither progress nor a stall; growth upon growth is, and the parts that led nowhere are withdrawn."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import Withdrawn
from aotloop.core.events import AtomDecomposed, Child
from aotloop.core.graph.board import Board
from aotloop.core.handlers.generations import withdraw
from aotloop.core.machine import advance
from aotloop.core.model import Decomposition, OrGroup
from tests.core.generated import errors_of
from tests.core.happenings import TOO_OFTEN, after_one, decompose, end, resolve, stalls, too_often
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def test_growth_by_a_decomposition_is_neither_progress_nor_a_stall() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    assert stalls(loop) == 1


def test_growth_beside_which_something_was_resolved_is_not_held_against_the_next_one() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    resolve(loop, "A2")
    loop.control = replace(loop.control, fewest_unresolved=0)  # there were fewer once: that is no progress
    assert (stalls(loop), loop.control.generation.grew_before) == (1, ())
    decompose(loop, "A3", "C1", "C2")
    assert stalls(loop) == 1
    assert loop.control.generation.grew_before == ("A3",)


def test_a_second_growth_beside_which_something_was_resolved_withdraws_nothing() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    end(loop)
    decompose(loop, "A2", "C1", "C2")
    resolve(loop, "A3")
    loop.control = replace(loop.control, fewest_unresolved=0)
    assert (end(loop), loop.control.stall_count) == ([], 1)


def test_growth_one_stall_before_the_last_forces_nothing() -> None:
    loop = after_one(atom("X", or_group="g", attempts=1), atom("Y", or_group="g"), atom("A1"), stall_count=8)
    decompose(loop, "A1", "B1", "B2")
    assert (end(loop), loop.control.stall_count) == ([], 8)


def test_two_generations_that_grow_and_resolve_nothing_are_a_stall_and_their_parts_are_withdrawn() -> None:
    loop = after_one(atom("A1"), atom("A2"), atom("A3", "A1"))
    decompose(loop, "A1", "B1", "B2")
    end(loop)
    decompose(loop, "A2", "C1")
    (withdrawn,) = end(loop)
    assert isinstance(withdrawn, Withdrawn)
    assert (withdrawn.parents, set(withdrawn.atoms)) == (("A1", "A2"), {"B1", "B2", "C1"})
    assert loop.control.stall_count == 2
    assert loop.control.fewest_unresolved == 3, "what is gone is no progress"
    assert loop.atoms == [atom("A1", whole=True), atom("A2", whole=True), atom("A3", "A1", failures=TOO_OFTEN)]
    assert loop.decompositions == []
    assert errors_of(loop) == []


def test_what_is_withdrawn_is_named_in_the_order_of_the_file() -> None:
    loop = after_one()
    decompose(loop, "A1", *(f"B{number}" for number in range(1, 9)))
    end(loop)
    decompose(loop, "B1", "C1")
    (withdrawn,) = end(loop)
    assert isinstance(withdrawn, Withdrawn)
    assert withdrawn.atoms == (*(f"B{number}" for number in range(1, 9)), "C1")


def test_growth_after_a_generation_in_which_a_part_was_resolved_is_not_the_second_in_a_row() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    end(loop)
    resolve(loop, "B1")
    assert stalls(loop) == 0
    decompose(loop, "B2", "C1", "C2")
    assert stalls(loop) == 0
    assert "B1" in {one.id for one in loop.atoms}


def test_a_stall_between_two_growths_withdraws_nothing() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1")
    end(loop)
    too_often(loop)
    assert (end(loop), loop.control.stall_count) == ([], 2)
    decompose(loop, "A2", "C1")
    assert (end(loop), loop.control.stall_count) == ([], 2)


def test_nested_parts_are_withdrawn_with_the_outer_ones() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1", "B2")
    end(loop)
    decompose(loop, "B1", "C1", "C2")
    (withdrawn,) = end(loop)
    assert isinstance(withdrawn, Withdrawn)
    assert (withdrawn.parents, set(withdrawn.atoms)) == (("A1",), {"B1", "B2", "C1", "C2"})
    assert [one.id for one in loop.atoms] == ["A1", "A2", "A3"]
    assert (loop.decompositions, loop.atoms[0].whole) == ([], True)


def test_what_depended_on_a_part_depends_on_the_whole_again() -> None:
    loop = after_one()
    decompose(loop, "A1", "B1")
    end(loop)
    decompose(loop, "B1", "C1")
    loop.atoms[1] = atom("A2", "C1", "B1", "A3")
    end(loop)
    assert loop.atoms[1].depends_on == ("A1", "A3")


def test_alternatives_among_withdrawn_parts_go_with_them() -> None:
    loop = after_one()
    ways = tuple(Child(description=one, or_group="how") for one in ("one way", "another"))
    advance(loop, AtomDecomposed(parent="A1", children=ways, reason="either"))
    end(loop)
    decompose(loop, "A2", "C1")
    end(loop)
    assert (loop.or_groups, [one.id for one in loop.atoms]) == ({}, ["A1", "A2", "A3"])
    assert errors_of(loop) == []


def test_a_withdrawn_parent_is_done_in_one_piece() -> None:
    loop = a_loop(atom("A1", whole=True))
    with refused(loop, "A1 is done in one piece"):
        decompose(loop, "A1", "B1")
    resolve(loop, "A1")
    assert loop.atoms[0].status == "resolved"


def test_what_depended_on_a_part_of_a_part_depends_on_the_whole_that_stays() -> None:
    loop = a_loop(
        atom("P"), atom("Q"), atom("C"), atom("Z", "C"),
        decompositions=[
            Decomposition(parent="P", children=("Q",), reason="r"),
            Decomposition(parent="Q", children=("C",), reason="r"),
        ],
    )  # fmt: skip
    for parents in (("Q", "P", "gone"), ("P", "Q")):
        copy = loop.snapshot()
        assert withdraw(Board(copy), parents) == [Withdrawn(parents=("P",), atoms=("Q", "C"))]
        assert [(one.id, one.depends_on, one.whole) for one in copy.atoms] == [("P", (), True), ("Z", ("P",), False)]


def test_what_is_no_whole_is_not_withdrawn() -> None:
    loop = a_loop(atom("A"))
    assert withdraw(Board(loop), ("A", "gone")) == []
    assert not loop.atoms[0].whole


def test_without_the_parts_groups_may_be_in_another_order_and_what_was_blamed_is_free() -> None:
    blamed = OrGroup(choices=("C1", "C2"), selected="C2", blamed={"C1": ("d",)})
    loop = a_loop(
        atom("P"), *(atom(one, "P", or_group="c") for one in ("C1", "C2")), atom("D", or_group="d"), atom("A", "D"),
        or_groups={"c": blamed, "d": OrGroup(choices=("D",), selected="D")},
        decompositions=[Decomposition(parent="P", children=("A",), reason="r")],
    )  # fmt: skip
    withdraw(Board(loop), ("P",))
    assert loop.or_groups["c"] == replace(blamed, blamed={})
