"""What a coordinator was told last is kept, and forgotten when the loop begins anew."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Steering
from tests.loops import a_loop, atom


def test_being_sent_back_is_counted_as_long_as_nothing_comes_of_it() -> None:
    loop = a_loop(atom("A1"))
    for _ in range(3):
        assert advance(loop, events.Steered(mark="m", is_sent_back=True, is_in_vain=True)) == []
    assert loop.control.steering == Steering(mark="m", sent_back=3)
    advance(loop, events.Steered(mark="n", is_sent_back=True, asked="verify"))
    assert loop.control.steering == Steering(mark="n", sent_back=1, asked="verify")
    advance(loop, events.Steered(mark="n", is_in_vain=True))
    assert loop.control.steering == Steering(mark="n")


def test_it_is_forgotten_when_a_stopped_loop_starts_and_only_then() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.Steered(mark="m", is_sent_back=True))
    advance(loop, events.LoopStarted())  # it runs already
    assert loop.control.steering.sent_back == 1
    advance(loop, events.LoopStopped(reason="user: enough"))
    advance(loop, events.LoopStarted())
    assert loop.control.steering == Steering()


def test_the_coordinator_that_runs_is_kept_until_another_session_has_the_loop() -> None:
    loop = a_loop(atom("A1"))
    advance(loop, events.SessionBound(session_id="one"))
    advance(loop, events.CoordinatorChanged(agent="a1"))
    advance(loop, events.Steered(mark="m", is_sent_back=True))
    advance(loop, events.LoopStopped(reason="user: enough"))
    advance(loop, events.LoopStarted())
    assert loop.control.steering == Steering(coordinator="a1")
    advance(loop, events.SessionBound(session_id="two", take_over=True))
    assert loop.control.steering.coordinator == ""
    advance(loop, events.CoordinatorChanged(agent="a2"))
    advance(loop, events.CoordinatorChanged())
    assert loop.control.steering.coordinator == ""
