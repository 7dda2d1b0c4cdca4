"""Why a loop cannot go on: in words, and only when it is so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.effects import Backtracked
from aotloop.core.endings import exhausted, find_a_way_out, is_all_resolved, over_limit, spent, stalled
from aotloop.core.machine import advance
from aotloop.core.model import Constraints, Control
from tests.loops import a_loop, atom

ONCE = Constraints(max_attempts=1)


def control(**given: Any) -> Control:
    return replace(a_loop(atom("A1")).control, **given)


@pytest.mark.parametrize(
    ("given", "limits", "reason"),
    [
        ({"iteration": 19}, {}, None),
        ({"iteration": 20}, {}, "limit: 20 iterations, as many as allowed"),
        ({"ran_seconds": 59.9}, {"max_runtime": "1m"}, None),
        ({"ran_seconds": 60.0}, {"max_runtime": "1m"}, "limit: it ran for 1m, as long as allowed"),
        ({"cost_usd": 1.99}, {"max_cost_usd": 2.0}, None),
        ({"cost_usd": 2.0}, {"max_cost_usd": 2.0}, "limit: it cost $2.00 of the $2.00 allowed"),
    ],
)
def test_a_limit_is_reached_when_as_much_was_used_as_is_allowed(
    given: dict[str, Any], limits: dict[str, Any], reason: str | None
) -> None:
    assert over_limit(control(**given), Constraints(**limits)) == reason


def test_the_last_iteration_that_is_allowed_may_come_to_its_end() -> None:
    assert over_limit(control(iteration=20), Constraints(), is_open=True) is None
    late = over_limit(control(iteration=20, cost_usd=3.0), Constraints(max_cost_usd=2.0), is_open=True)
    assert late == "limit: it cost $3.00 of the $2.00 allowed"


def test_it_stalls_with_as_many_stalls_as_are_allowed() -> None:
    assert stalled(control(stall_count=2), Constraints()) is None
    assert stalled(control(stall_count=3), Constraints()) == (
        "stalled: 3 generations in a row in which nothing got smaller"
    )


def test_repairs_have_to_be_resolved_too() -> None:
    done, repair = atom("A1", status="resolved"), atom("R", repairs="tests")
    assert is_all_resolved(Board(a_loop(done)))
    assert not is_all_resolved(Board(a_loop(done, repair)))
    assert is_all_resolved(Board(a_loop(done, replace(repair, status="resolved"))))
    assert not is_all_resolved(Board(a_loop(atom("A1"))))


def test_what_is_under_way_is_not_spent() -> None:
    atoms = (atom("A1", attempts=1), atom("A2", attempts=1, status="in_progress"), atom("A3"))
    assert spent(Board(a_loop(*atoms, constraints=ONCE))) == ["A1"]


@pytest.mark.parametrize(("count", "end"), [(8, "A7"), (9, "A7 …")])
def test_of_many_that_failed_eight_are_named(count: int, end: str) -> None:
    loop = a_loop(*(atom(f"A{number}", attempts=1) for number in range(count)), constraints=ONCE)
    named = ", ".join(f"A{number}" for number in range(7))
    assert exhausted(Board(loop)) == f"exhausted: every attempt and every alternative has failed for {named}, {end}"


def test_where_nothing_failed_what_is_not_resolved_is_named() -> None:
    loop = a_loop(*(atom(f"A{number}", "gone") for number in range(9)))
    named = ", ".join(f"A{number}" for number in range(8))
    assert exhausted(Board(loop)) == f"exhausted: nothing can start; not resolved: {named}"


def test_one_way_out_is_enough() -> None:
    loop = a_loop(
        atom("A1", attempts=1),
        *(atom(one, or_group="g", attempts=int(one == "W")) for one in "WX"),
        *(atom(one, or_group="h", attempts=int(one == "Y")) for one in "YZ"),
        constraints=ONCE,
    )
    board = Board(loop)
    effects = find_a_way_out(board, partial(advance, loop, board=board), "noon")
    assert [one.or_group for one in effects if isinstance(one, Backtracked)] == ["g"]
    assert (loop.or_groups["g"].selected, loop.or_groups["h"].selected) == ("X", "Y")
    assert loop.trail[-1].reason == "W failed: its attempts are spent"
