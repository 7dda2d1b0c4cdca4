"""Each occasion is one message, and what is no occasion is none."""

from __future__ import annotations

import pytest

from aotloop.app.outlets.occasions import Message, Occasions
from aotloop.execution import run_events, ship_events
from aotloop.execution.run_events import RunEvent

AT = "2026-01-01T00:00:00Z"


def ended(outcome: str) -> RunEvent:
    return run_events.AttemptEnded(at=AT, atom="A1", attempt=1, outcome=outcome, summary="why")


def merged() -> RunEvent:
    return run_events.Merged(at=AT, atom="A1", attempt=1)


def begun(**limits: float) -> RunEvent:
    return run_events.RunBegan(at=AT, run_id="r", pid=1, goal="g", isolation="none", **limits)  # type: ignore[arg-type]


def told(occasions: Occasions, *events: RunEvent) -> list[Message]:
    return [message for event in events for message in occasions.of(event)]


def test_so_many_failures_in_a_row_are_one_message_and_a_success_begins_anew() -> None:
    occasions = Occasions(2)
    failed = ended("failed")
    assert told(occasions, failed, merged(), failed) == []
    (message,) = told(occasions, ended("timed_out"), failed, failed)
    assert (message.occasion, message.title) == ("failures", "2 attempts in a row failed")
    assert [one.occasion for one in told(occasions, merged(), failed, failed)] == ["failures"]


def test_waiting_for_a_service_is_no_failure() -> None:
    assert told(Occasions(1), ended("unavailable"), ended("must_wait"), ended("cancelled"), ended("done")) == []


def test_a_limit_that_is_near_is_told_once() -> None:
    occasions = Occasions(99)
    found = told(occasions, begun(attempts_at_most=5, max_cost_usd=10.0), *[ended("done")] * 5)
    assert [one.title for one in found] == ["the limit of attempts is near"]
    spent = [message.title for usd in (7.9, 8.0, 9.0) for message in occasions.spent(usd)]
    assert spent == ["the limit of cost is near"]


@pytest.mark.parametrize(
    ("status", "reason", "occasion"),
    [
        ("completed", None, "finished"),
        ("stopped", "user: enough", "stopped"),
        ("stopped", "blocked: nothing can start", "needs_person"),
        ("stopped", "limit: max_cost_usd", "stopped"),
    ],
)
def test_the_end_of_a_run_is_one_message(status: str, reason: str | None, occasion: str) -> None:
    end = run_events.RunEnded(at=AT, status=status, reason=reason)  # type: ignore[arg-type]
    assert [one.occasion for one in told(Occasions(3), end)] == [occasion]
    part = Occasions(3)
    part.is_part = True
    assert told(part, end) == []


@pytest.mark.parametrize(
    ("status", "occasion"),
    [("waiting", "needs_person"), ("completed", "finished"), ("stopped", "stopped"), ("running", None)],
)
def test_the_end_of_a_feature_is_one_message(status: str, occasion: str | None) -> None:
    end = ship_events.ShipEnded(at=AT, status=status, phase="work", reason="why")
    assert [one.occasion for one in told(Occasions(3), end)] == ([occasion] if occasion else [])
