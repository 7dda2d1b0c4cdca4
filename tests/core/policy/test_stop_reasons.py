"""Why a loop cannot go on: in words, and only when it is so."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.effects import Backtracked, CheckParent, Exhausted
from aotloop.core.graph.board import Board
from aotloop.core.limits import Limits, limits_of
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Constraints, Decomposition, Loop, TrailEntry
from aotloop.core.policy import turns
from aotloop.core.policy.stop_reasons import (
    LONGEST_REASON,
    exhausted,
    find_a_way_out,
    hopeless,
    is_all_resolved,
    over_limit,
    spent,
    stalled,
)
from aotloop.core.policy.turns import patience
from tests.loops import a_large_loop, a_loop, atom

PASSES = AtomCheck(type="command", value="true")
PATIENT_FOR = patience(a_large_loop(atom("A1")))
"""Of a loop in which nothing was resolved yet."""
HOPELESS = ceil(turns.HOPELESS * PATIENT_FOR)
HALF = ceil(HOPELESS / 2)
"""Of each of two choices."""


def limits(**given: Any) -> Limits:
    return limits_of(Constraints(**given))


def board(**given: Any) -> Board:
    loop = a_loop(atom("A1"), atom("A2"))
    loop.control = replace(loop.control, **given)
    return Board(loop)


@pytest.mark.parametrize(
    ("given", "constraints", "reason"),
    [
        ({"tried": 19}, {}, None),
        ({"tried": 20}, {}, "limit: 20 attempts of the 20 allowed"),
        ({"tried": 29, "shares": 3}, {}, None),
        ({"tried": 31, "shares": 3}, {}, "limit: 31 attempts of the 30 allowed"),
        ({"tried": 6}, {"max_total_attempts": 7}, None),
        ({"tried": 7}, {"max_total_attempts": 7}, "limit: 7 attempts of the 7 allowed"),
        ({"iteration": 19}, {}, None),
        ({"iteration": 20}, {}, "limit: 20 iterations, as many as allowed"),
        ({"ran_seconds": 59.9}, {"max_runtime": "1m"}, None),
        ({"ran_seconds": 60.0}, {"max_runtime": "1m"}, "limit: its runtime of 1m is used up"),
        ({"cost_usd": 1.99}, {"max_cost_usd": 2.0}, None),
        ({"cost_usd": 2.0}, {"max_cost_usd": 2.0}, "limit: it cost $2.00 of the $2.00 allowed"),
    ],
)
def test_a_limit_is_reached_when_as_much_was_used_as_is_allowed(
    given: dict[str, Any], constraints: dict[str, Any], reason: str | None
) -> None:
    assert over_limit(board(**given), limits(**constraints)) == reason


def test_the_last_iteration_that_is_allowed_may_come_to_its_end() -> None:
    assert over_limit(board(iteration=20), limits(), is_open=True) is None
    late = over_limit(board(iteration=20, cost_usd=3.0), limits(max_cost_usd=2.0), is_open=True)
    assert late == "limit: it cost $3.00 of the $2.00 allowed"


def test_it_stalls_with_as_many_stalls_as_are_allowed() -> None:
    assert stalled(board(stall_count=2), limits()) is None
    assert stalled(board(stall_count=3), limits()) == ("stalled: 3 generations in a row in which nothing got smaller")


def test_repairs_have_to_be_resolved_too() -> None:
    done, repair = atom("A1", status="resolved"), atom("R", repairs="tests")
    assert is_all_resolved(Board(a_loop(done)))
    assert not is_all_resolved(Board(a_loop(done, repair)))
    assert is_all_resolved(Board(a_loop(done, replace(repair, status="resolved"))))
    assert not is_all_resolved(Board(a_loop(atom("A1"))))


def test_only_repairs_and_wholes_are_spent_and_not_what_is_under_way() -> None:
    loop = a_large_loop(
        atom("A1", attempts=999), atom("R", repairs="a", attempts=PATIENT_FOR),
        atom("S", repairs="b", attempts=PATIENT_FOR - 1), atom("T", repairs="c", attempts=999, status="in_progress"),
        atom("P", attempts=PATIENT_FOR), atom("C"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    assert spent(Board(loop)) == ["R", "P"]


@pytest.mark.parametrize(("count", "end"), [(8, ", A7"), (9, ", A7 and 1 more")])
def test_of_many_that_failed_eight_are_named(count: int, end: str) -> None:
    loop = a_loop(*(atom(f"A{number}", repairs="tests", attempts=999) for number in range(count)))
    named = ", ".join(f"A{number}" for number in range(7))
    assert exhausted(Board(loop)) == f"exhausted: every attempt and every alternative has failed for {named}{end}"


def test_where_nothing_failed_what_is_not_resolved_is_named() -> None:
    loop = a_loop(*(atom(f"A{number}", "gone") for number in range(9)))
    named = ", ".join(f"A{number}" for number in range(8))
    assert exhausted(Board(loop)) == f"exhausted: nothing can start; not resolved: {named} and 1 more"


def test_one_way_out_is_enough() -> None:
    parts = [Decomposition(parent=one, children=(f"{one}_part",), reason="parts") for one in "WXY"]
    loop = a_loop(
        atom("R", repairs="P", attempts=999), atom("P"),
        *(atom(one, or_group="g", attempts=9999 * (one == "W"), check=PASSES) for one in "WX"),
        *(atom(one, or_group="h", attempts=9999 * (one == "Y")) for one in "YZ"),
        atom("W_part"), atom("Y_part"), atom("X_part", status="resolved"),
        decompositions=[Decomposition(parent="P", children=("R",), reason="parts"), *parts],
    )  # fmt: skip
    board = Board(loop)
    effects = find_a_way_out(board, partial(advance, loop, board=board), "noon")
    assert (effects[0], effects[-1]) == (Exhausted(atom="R"), CheckParent(atom="X"))
    assert [one.or_group for one in effects if isinstance(one, Backtracked)] == ["g"]
    assert (loop.or_groups["g"].selected, loop.or_groups["h"].selected) == ("X", "Y")
    assert loop.trail[-1].reason == "W failed: it failed again and again"


# --- what only a person can help ---------------------------------------------------------------------------------


def failing_alike(*times: int, reason: str = "no such host") -> Loop:
    """Choices of one group, each of which failed so often in the same way."""
    atoms = [atom(f"W{number}", or_group="g", alike=count) for number, count in enumerate(times)]
    entries = [TrailEntry(reason=f"{one.id}: {reason}", timestamp="noon", type="failure", atom=one.id) for one in atoms]
    return a_large_loop(*atoms, atom("other"), trail=[*entries, replace(entries[0], atom="other", reason="red")])


def test_a_unit_that_fails_alike_whatever_is_tried_is_blocked_and_says_what_a_person_can_do() -> None:
    reason = hopeless(Board(failing_alike(HALF, HALF + 1)), "W1")
    assert reason == (
        f"W0 and W1 failed {2 * HALF + 1} times in the same way (W1: no such host);"
        " change what W0 and W1 ask for or their checks, add an alternative, or grant another try:"
        " aot redirect --retry W0"
    )


def test_a_single_atom_can_be_blocked_too() -> None:
    entry = TrailEntry(reason="x" * 300 + " y", timestamp="noon", type="failure", atom="A1")
    later = TrailEntry(or_group="g", selected="A1", reason="by hand", timestamp="noon", atom="A1")
    reason = hopeless(Board(a_large_loop(atom("A1", alike=HOPELESS), trail=[entry, later])), "A1")
    assert reason is not None
    assert reason.startswith(f"A1 failed {HOPELESS} times in the same way (")
    assert "change what A1 asks for or its check, add an alternative" in reason
    assert reason.endswith("aot redirect --retry A1")
    assert "by hand" not in reason
    assert len(reason) < LONGEST_REASON + 200


def test_without_a_record_of_failures_it_is_blocked_all_the_same() -> None:
    assert "in the same way ()" in (hopeless(Board(a_large_loop(atom("A1", alike=HOPELESS))), "A1") or "")


def test_a_stall_in_which_a_unit_fails_alike_names_it_half_as_often_as_else() -> None:
    for alike, is_named in (
        (ceil(turns.HOPELESS * PATIENT_FOR / 2) - 1, False),
        (ceil(turns.HOPELESS * PATIENT_FOR / 2), True),
    ):
        loop = a_large_loop(atom("A1"), atom("A2", alike=alike))
        loop.control = replace(loop.control, stall_count=3)
        reason = stalled(Board(loop), limits()) or ""
        assert reason.startswith(f"blocked: A2 failed {alike} times in the same way") is is_named
        assert reason.startswith("stalled: 3 generations") is not is_named


def test_as_long_as_one_choice_fails_differently_nothing_is_hopeless() -> None:
    assert hopeless(Board(failing_alike(HALF, HALF - 1)), "W0") is None
    assert hopeless(Board(failing_alike(999, 0)), "W0") is None


def test_a_choice_that_failed_and_gave_way_speaks_for_its_unit() -> None:
    loop = failing_alike(HALF, HALF)
    assert hopeless(Board(loop), "W1") == hopeless(Board(loop), "W0")


def test_what_is_not_required_or_not_there_blocks_nothing() -> None:
    loop = a_large_loop(atom("N", alike=HOPELESS), atom("X", "N", or_group="g"), atom("Y", or_group="g"))
    assert hopeless(Board(loop), "N") is not None
    loop.or_groups["g"] = replace(loop.or_groups["g"], selected="Y")
    assert hopeless(Board(loop), "N") is None
    assert hopeless(Board(loop), "gone") is None
