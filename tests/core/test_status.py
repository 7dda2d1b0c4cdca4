"""What a loop has cost, and how it is interrupted."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.core.events import (
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
from aotloop.core.machine import advance
from aotloop.core.model import Binding, Used, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.usage import tokens_of
from tests.core.generated import deep_copy
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
