"""A choice is given up though nothing is wrong with it in itself: it is blamed, not failed."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.effects import Backtracked, Exhausted
from aotloop.core.model import Decomposition, Loop
from aotloop.core.surrender import give_up_a_choice, give_up_what_stalls
from tests.core.generated import errors_of
from tests.loops import a_loop, atom


def two_groups() -> Loop:
    """Group b rests on a; c on nothing."""
    return a_loop(
        atom("A1", or_group="a", status="resolved"), atom("A2", or_group="a"),
        atom("B1", "A1", or_group="b", status="resolved"), atom("B2", "A1", or_group="b"),
        atom("C1", or_group="c", status="resolved"), atom("C2", or_group="c"),
        atom("Z", "B1"), atom("W", "C1"),
    )  # fmt: skip


def selected(loop: Loop) -> list[str]:
    return [group.selected for group in loop.or_groups.values()]


def test_the_latest_group_with_an_alternative_is_given_up_first_and_no_combination_twice() -> None:
    loop = two_groups()
    board = Board(loop)
    seen = [selected(loop)]
    while not any(isinstance(one, Exhausted) for one in give_up_a_choice(board, "why not", "noon")):
        seen.append(selected(loop))
        assert errors_of(loop) == []
    assert len(seen) == len({tuple(one) for one in seen}) == 8


def test_what_is_given_up_is_blamed_with_a_dated_reason() -> None:
    loop = two_groups()
    (switched,) = give_up_a_choice(Board(loop), "the base case fails", "noon")
    assert isinstance(switched, Backtracked)
    group = loop.or_groups[switched.or_group]
    assert (group.failed, list(group.blamed)) == ((), [switched.left])
    assert (loop.trail[-1].reason, loop.trail[-1].timestamp) == ("the base case fails", "noon")
    assert loop.trail[-1].selected == switched.selected


def test_without_alternatives_there_is_nothing_to_give_up() -> None:
    loop = a_loop(atom("A1"))
    assert give_up_a_choice(Board(loop), "why not", "noon") == [Exhausted(atom=None)]
    assert give_up_what_stalls(Board(loop), "noon") == []


def test_the_cheapest_alternative_that_a_probe_found_is_taken() -> None:
    loop = a_loop(
        atom("X", or_group="g", attempts=1),
        atom("Y", or_group="g", estimate=1.0),
        atom("Z", or_group="g", estimate=5.0, findings="seen"),
    )
    give_up_what_stalls(Board(loop), "noon")
    assert loop.or_groups["g"].selected == "Z"


def test_when_it_stalls_a_choice_that_a_failing_atom_rests_on_is_given_up() -> None:
    loop = two_groups()
    loop.atoms[6] = replace(loop.atoms[6], attempts=1)
    give_up_what_stalls(Board(loop), "noon")
    assert selected(loop) == ["A1", "B2", "C1"]
    assert loop.trail[-1].reason == "nothing got smaller: Z keeps failing"


def test_of_several_failing_atoms_the_one_that_failed_most_often_counts() -> None:
    loop = two_groups()
    loop.atoms[6] = replace(loop.atoms[6], attempts=1)
    loop.atoms[7] = replace(loop.atoms[7], attempts=2)
    loop.objective = replace(loop.objective, constraints=replace(loop.objective.constraints, max_attempts=9))
    give_up_what_stalls(Board(loop), "noon")
    assert selected(loop) == ["A1", "B1", "C2"]


def test_when_nothing_fails_any_choice_that_was_tried_is_given_up() -> None:
    loop = two_groups()
    (switched,) = give_up_what_stalls(Board(loop), "noon")
    assert isinstance(switched, Backtracked)
    assert loop.trail[-1].reason == "nothing got smaller"


def test_a_choice_that_fails_itself_while_it_stalls_has_failed() -> None:
    loop = a_loop(atom("X", or_group="g", attempts=1), atom("Y", or_group="g"))
    give_up_what_stalls(Board(loop), "noon")
    assert (loop.or_groups["g"].failed, loop.or_groups["g"].blamed) == (("X",), {})


def test_a_group_that_nothing_required_rests_on_is_left_alone() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"),
        atom("Y", or_group="g"),
        atom("Q", or_group="h", status="resolved"),
        atom("R", "X", or_group="h"),
    )
    loop.or_groups["h"] = replace(loop.or_groups["h"], failed=("R",))
    assert give_up_a_choice(Board(loop), "why not", "noon") == [Exhausted(atom=None)]
    assert selected(loop) == ["X", "Q"]


def test_a_choice_whose_parts_are_being_done_was_tried() -> None:
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), atom("C"), atom("V", or_group="h"), atom("W", or_group="h"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
    )  # fmt: skip
    give_up_what_stalls(Board(loop), "noon")
    assert selected(loop) == ["Y", "V"]
