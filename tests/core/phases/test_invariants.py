"""How many steps are left is known for every phase, and every step makes them fewer."""

from __future__ import annotations

import pytest

from aotloop.core.phases.invariants import steps_left
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import Phase, Status
from tests.core.phases.loops import a_phase_loop, ended, filed


def moves(phase: Phase, status: Status = "running", **given: int) -> int:
    return steps_left(a_phase_loop(phase=phase, status=status, max_iterations=7, **given)) - 7


MOVES: list[tuple[Phase, Status, int]] = [
    ("brainstorm", "running", 16),
    ("plan", "running", 15),
    ("spec_test", "running", 14),
    ("spec_test", "stopped", 14),
    ("spec_test", "waiting", 13),
    ("deepen", "running", 12),
    ("work", "running", 11),
    ("review", "running", 10),
    ("fix", "running", 9),
    ("re_review", "running", 8),
    ("compound", "running", 3),
    ("test", "running", 2),
    ("ship", "running", 1),
]
"""With three rounds of fixing, of which none was made."""


@pytest.mark.parametrize(("phase", "status", "left"), MOVES)
def test_the_moves_that_are_left(phase: Phase, status: Status, left: int) -> None:
    assert moves(phase, status) == left


@pytest.mark.parametrize(
    ("rounds", "review", "fix", "re_review"), [(0, 10, 9, 8), (1, 8, 7, 6), (2, 6, 5, 4), (3, 4, 5, 4), (5, 4, 5, 4)]
)
def test_every_round_of_fixing_takes_two_and_one_that_has_begun_is_ended(
    rounds: int, review: int, fix: int, re_review: int
) -> None:
    found = [moves(phase, fix_review_cycles=rounds) for phase in ("review", "fix", "re_review")]
    assert found == [review, fix, re_review]


def test_iterations_that_were_made_are_not_left_and_none_is_owed() -> None:
    left = [steps_left(a_phase_loop(phase="ship", max_iterations=7, global_iteration=used)) for used in (0, 3, 6, 7, 9)]
    assert left == [8, 5, 2, 1, 1]


def test_what_is_over_makes_no_step() -> None:
    assert [moves("work", status) for status in ("completed", "cancelled")] == [-7, -7]


def test_an_iteration_and_a_receipt_are_one_step_each_at_least() -> None:
    loop = a_phase_loop(phase="work")
    after, _ = ended(1, loop)
    assert steps_left(after) == steps_left(loop) - 1
    after, _ = advance(loop, filed("work"))
    assert steps_left(after) == steps_left(loop) - 1
