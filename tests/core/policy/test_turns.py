"""How patient a loop is follows from what its own successes needed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.events import AtomFailed, AtomResolved, AtomStarted
from aotloop.core.machine import advance
from aotloop.core.model import Constraints, Loop
from aotloop.core.policy.turns import at_worst, most_in_vain, patience, turn, usual
from tests.loops import a_loop, atom


def having(won: int, needed: int, **limits: Any) -> Loop:
    """So many atoms were resolved, by so many attempts in all."""
    loop = a_loop(atom("A1"), constraints=Constraints(**limits))
    loop.control = replace(loop.control, won=won, needed=needed)
    return loop


@pytest.mark.parametrize(
    ("won", "needed", "expected"), [(0, 0, 2.0), (1, 1, 1.5), (1, 4, 3.0), (3, 3, 1.25), (9, 88, 9.0)]
)
def test_usual_is_what_resolved_atoms_needed_starting_from_a_guess_of_two(
    won: int, needed: int, expected: float
) -> None:
    assert usual(having(won, needed)) == expected


@pytest.mark.parametrize(
    ("won", "needed", "longest", "expected"),
    [
        (0, 0, 9, 2),
        (1, 1, 9, 2),  # 1.5
        (3, 3, 9, 1),  # 1.25: where most succeed at once, one failure says enough
        (99, 0, 9, 1),  # never none at all
        (1, 4, 9, 3),
        (1, 5, 9, 4),  # 3.5
        (1, 4, 2, 2),
        (1, 4, 1, 1),
    ],
)
def test_a_turn_is_as_long_as_usual_and_no_longer_than_allowed(
    won: int, needed: int, longest: int, expected: int
) -> None:
    assert turn(having(won, needed, max_attempts=longest)) == expected


@pytest.mark.parametrize(
    ("won", "needed", "expected"), [(0, 0, 6.0), (1, 1, 3.5), (1, 4, 5.0), (3, 3, 2.25), (9, 84, 9.0)]
)
def test_where_a_mistake_costs_more_the_first_successes_count_for_less(won: int, needed: int, expected: float) -> None:
    assert at_worst(having(won, needed)) == expected


@pytest.mark.parametrize(
    ("won", "needed", "longest", "expected"), [(0, 0, 2, 72), (3, 3, 2, 27), (1, 4, 2, 60), (0, 0, 80, 80)]
)
def test_patience_is_twelve_times_what_is_usual_at_worst_and_at_least_a_turn(
    won: int, needed: int, longest: int, expected: int
) -> None:
    assert patience(having(won, needed, max_attempts=longest, max_total_attempts=10**6)) == expected


@pytest.mark.parametrize(("attempts", "expected"), [(7, 2), (8, 2), (12, 3), (15, 3), (287, 71), (288, 72), (999, 72)])
def test_in_a_small_loop_patience_is_a_fourth_of_all_attempts(attempts: int, expected: int) -> None:
    assert patience(having(0, 0, max_attempts=2, max_total_attempts=attempts)) == expected


@pytest.mark.parametrize(("won", "needed", "expected"), [(0, 0, 4), (3, 3, 2), (9, 9, 2), (1, 4, 6)])
def test_retries_go_on_from_what_was_left_for_twice_the_usual_attempts_and_for_two_at_least(
    won: int, needed: int, expected: int
) -> None:
    assert most_in_vain(having(won, needed), 0) == expected


@pytest.mark.parametrize(("failures", "expected"), [(5, 2), (6, 3), (41, 20)])
def test_a_difficult_atom_goes_on_from_what_was_left_for_half_of_all_its_failures(failures: int, expected: int) -> None:
    assert most_in_vain(having(9, 9), failures) == expected


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9))
def test_a_turn_is_never_longer_than_patience(won: int, more: int, longest: int) -> None:
    loop = having(won, won + more, max_attempts=longest)
    assert 1 <= turn(loop) <= min(longest, patience(loop))


def test_only_what_was_resolved_teaches_what_is_usual() -> None:
    loop = a_loop(atom("A1"), atom("A2"), atom("R", repairs="tests"))
    for _ in range(5):
        advance(loop, AtomStarted(atom="A1"))
        advance(loop, AtomFailed(atom="A1", reason="it broke", at="noon"))
    assert usual(loop) == 2
    for one in ("A2", "A1", "R"):
        advance(loop, AtomStarted(atom=one))
        advance(loop, AtomResolved(atom=one, summary="done"))
    assert (loop.control.won, loop.control.needed, loop.control.tried) == (2, 7, 8)
    assert usual(loop) == 3
