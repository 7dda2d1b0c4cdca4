"""What a loop has cost, and how it is interrupted."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.events import (
    AtomFailed,
    AtomResolved,
    AtomStarted,
    Event,
    LoopCompleted,
    LoopStarted,
    LoopStopped,
    RedirectExpired,
    RedirectRequested,
    Spent,
    StopRequested,
    VerdictReached,
)
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Binding, OrGroup, Used, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.policy.progress import tokens_of
from tests.core.generated import deep_copy, errors_of
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def test_money_and_time_add_up() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, Spent(usd=0.5, seconds=60))
    advance(loop, Spent(usd=0.25))
    advance(loop, Spent(seconds=30))
    assert (loop.control.cost_usd, loop.control.ran_seconds) == (0.75, 90)


@pytest.mark.parametrize("spent", [Spent(usd=-0.01), Spent(seconds=-1)])
def test_neither_money_nor_time_comes_back(spent: Spent) -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, "neither money nor time comes back"):
        advance(loop, spent)


@pytest.mark.parametrize("status", ["pending", "running", "stopped", "completed"])
def test_what_was_spent_is_said_whatever_the_status(status: Any) -> None:
    loop = a_loop(atom("A1"), status=status)
    advance(loop, Spent(usd=1.0))
    assert (loop.control.cost_usd, loop.control.status) == (1.0, status)


def test_a_request_to_redirect_puts_atoms_back_and_raises_the_epoch() -> None:
    half = {"A1": Binding(summary="half"), "A3": Binding(summary="did A3")}
    loop = a_loop(
        atom("A1", status="in_progress", attempts=1), atom("A2"), atom("A3", status="resolved"), bindings=half
    )
    assert advance(loop, RedirectRequested()) == []
    assert [one.status for one in loop.atoms] == ["pending", "pending", "resolved"]
    assert (loop.atoms[0].attempts, list(loop.bindings)) == (1, ["A3"])
    assert (loop.control.redirect_requested, loop.control.epoch) == (True, 1)


def test_asking_twice_is_asking_once() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, RedirectRequested())
    before = deep_copy(loop)
    advance(loop, RedirectRequested())
    assert deep_copy(loop) == before


def test_a_stopped_loop_can_be_redirected_too() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    advance(loop, RedirectRequested())
    assert (loop.control.redirect_requested, loop.control.status) == (True, "stopped")


@pytest.mark.parametrize("status", ["pending", "completed"])
def test_a_loop_that_neither_runs_nor_stopped_is_not_redirected(status: Any) -> None:
    loop = a_loop(atom("A1"), status=status)
    with refused(loop, f"the loop is {status}; only a running or stopped loop is redirected"):
        advance(loop, RedirectRequested())


def test_a_request_that_expires_leaves_the_epoch_where_it_is() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    advance(loop, RedirectRequested())
    advance(loop, RedirectExpired())
    assert (loop.control.redirect_requested, loop.control.epoch) == (False, 1)
    advance(loop, AtomStarted(atom="A1"))
    assert loop.atoms[0].status == "in_progress"


def test_without_a_request_nothing_expires() -> None:
    loop = a_loop(atom("A1"))
    before = deep_copy(loop)
    advance(loop, RedirectExpired())
    assert deep_copy(loop) == before


def test_a_loop_that_is_started_remembers_its_run_and_what_was_agreed_on() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    advance(loop, LoopStarted(run_id="r1", objective_digest="d1"))
    assert (loop.control.status, loop.control.run_id, loop.control.objective_digest) == ("running", "r1", "d1")
    advance(loop, LoopStarted())
    assert (loop.control.run_id, loop.control.objective_digest) == ("r1", "d1")


def test_what_models_were_used_for_adds_up_by_kind() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, Spent(used=Used(input=1, output=2, turns=1)))
    advance(loop, Spent(used=Used(input=10, cache_read=5, cache_write=3)))
    assert loop.control.used == Used(input=11, output=2, cache_read=5, cache_write=3, turns=1)
    assert tokens_of(loop.control.used) == 21


def test_money_is_kept_to_a_millionth_and_time_to_a_thousandth() -> None:
    loop = a_loop(atom("A1"))
    assert advance(loop, Spent(usd=0.12345649, seconds=1.23449)) == []
    assert (loop.control.cost_usd, loop.control.ran_seconds) == (0.123456, 1.234)


def test_starting_what_runs_for_the_same_run_is_no_news() -> None:
    loop = a_loop(atom("A1"), status="stopped")
    advance(loop, LoopStarted(run_id="r1", objective_digest="d1"))
    control = loop.control
    assert advance(loop, LoopStarted(run_id="r1", objective_digest="d1")) == []
    assert loop.control is control


def test_what_a_stop_asked_for_is_over_when_the_loop_is_completed_or_starts_again() -> None:
    loop = a_loop(atom("A1", status="resolved"))
    advance(loop, StopRequested(reason="user: enough"))
    assert (loop.control.stop_requested, loop.control.stop_reason) == (True, "user: enough")
    verdict = Verdict(passed=True, objective_digest=digest_of(loop.objective), at="noon")
    assert advance(loop, VerdictReached(verdict=verdict)) == []
    assert advance(loop, LoopCompleted()) == []
    assert (loop.control.status, loop.control.stop_requested, loop.control.stop_reason) == ("completed", False, None)
    other = a_loop(atom("A1"))
    advance(other, StopRequested(reason="user: enough"))
    advance(other, LoopStopped())
    assert (other.control.status, other.control.stop_reason) == ("stopped", "user: enough")
    advance(other, LoopStarted())
    assert (other.control.status, other.control.stop_requested, other.control.stop_reason) == ("running", False, None)


@pytest.mark.parametrize(
    ("status", "event", "allowed"),
    [
        ("pending", LoopStopped(), "start"),
        ("completed", LoopStarted(), "complete"),
        ("completed", LoopStopped(), "complete"),
        ("pending", LoopCompleted(), "start"),
    ],
)
def test_a_refusal_says_what_the_loop_allows(status: Any, event: Event, allowed: str) -> None:
    loop = a_loop(atom("A1"), status=status)
    with refused(loop, f"the loop is {status}; it allows: {allowed}$"):
        advance(loop, event)


def test_a_verdict_that_comes_after_the_end_changes_nothing() -> None:
    loop = a_loop(atom("A1", status="resolved"), status="completed")
    before = deep_copy(loop)
    verdict = Verdict(passed=False, objective_digest="d", at="noon", failing=("tests",))
    assert advance(loop, VerdictReached(verdict=verdict)) == []
    assert deep_copy(loop) == before


# --- what a loop starts with -------------------------------------------------------------------------------------


def test_a_loop_that_is_started_for_the_first_time_has_a_share_for_each_atom_and_counts_what_is_unresolved() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("X", or_group="g"), atom("Y", or_group="g"), status="pending")
    advance(loop, LoopStarted())
    assert (loop.control.shares, loop.control.fewest_unresolved) == (3, 1)


def test_what_it_had_when_it_was_started_first_is_kept() -> None:
    loop = a_loop(atom("A1"), atom("A2"), status="stopped")
    loop.control = replace(loop.control, shares=7, fewest_unresolved=1, tried=5)
    advance(loop, LoopStarted())
    assert (loop.control.shares, loop.control.fewest_unresolved, loop.control.tried) == (7, 1, 5)


@pytest.mark.parametrize("given_up", [{"failed": ("X", "Y")}, {"failed": ("Y",), "blamed": {"X": ()}}])
def test_a_group_whose_selected_choice_was_given_up_for_good_is_opened_again(given_up: dict[str, Any]) -> None:
    loop = a_loop(
        atom("X", or_group="g", attempts=2), atom("Y", or_group="g", attempts=2), atom("V", or_group="h"),
        atom("W", or_group="h"), status="stopped",
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], **given_up)
    loop.or_groups["h"] = replace(loop.or_groups["h"], failed=("W",))
    advance(loop, LoopStarted())
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y"), selected="X", round=1)
    assert [one.attempts for one in loop.atoms[:2]] == [0, 0]
    assert loop.or_groups["h"].failed == ("W",), "what goes on is left alone"
    assert Graph(loop).ready() == ["X", "V"]
    assert errors_of(loop) == []


def test_a_file_of_the_version_before_goes_on_until_it_is_done() -> None:
    """Every choice was given up for good, attempts were spent, and there are none of the new keys."""
    loop = a_loop(
        atom("A1", attempts=2), atom("X", "A1", or_group="g", attempts=2), atom("Y", "A1", or_group="g", attempts=2),
        atom("Z", "X", attempts=2), status="stopped",
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], failed=("X", "Y"))
    loop.control = replace(loop.control, iteration=4, stall_count=3, prev_pending_count=3, stop_reason="exhausted: …")
    advance(loop, LoopStarted())
    for one in ("A1", "X", "Z"):
        assert Graph(loop).ready() == [one]
        advance(loop, AtomStarted(atom=one))
        advance(loop, AtomFailed(atom=one, reason="bad luck", at="noon"))
        selected = {"X": loop.or_groups["g"].selected}.get(one, one)
        advance(loop, AtomStarted(atom=selected))
        advance(loop, AtomResolved(atom=selected, summary="done"))
    assert Graph(loop).unresolved() == []
    assert errors_of(loop) == []
