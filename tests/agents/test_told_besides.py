"""What a program tells besides its answer is taken if it makes sense, and never costs the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aotloop.agents.contract import Done, Failed, MustWait, Outcome, Tokens
from aotloop.agents.told_besides import with_what_is_told_besides

DONE = Done(summary="it is done")
FAILED = Failed(reason="it is not", notes=("a note",))


def told(outcome: Outcome, **more: Any) -> Outcome:
    return with_what_is_told_besides(outcome, json.dumps({"success": False, **more}))


def test_nothing_more_changes_nothing() -> None:
    assert told(DONE) is DONE
    assert told(FAILED, cause=None, usage=None) is FAILED


@pytest.mark.parametrize("cause", ["rate_limit", "overload", "outage"])
def test_what_passes_has_to_be_waited_for(cause: str) -> None:
    outcome = told(FAILED, cause=cause, retry_after=90)
    assert isinstance(outcome, MustWait)
    assert (outcome.reason, outcome.retry_after, outcome.cause, outcome.notes) == ("it is not", 90, cause, ("a note",))


@pytest.mark.parametrize("after", [None, "soon", True, float("inf"), [1]])
def test_a_time_that_is_none_was_not_told(after: object) -> None:
    outcome = told(FAILED, cause="rate_limit", retry_after=after)
    assert isinstance(outcome, MustWait)
    assert outcome.retry_after is None


@pytest.mark.parametrize("cause", ["quota", "auth", "refusal", "too_long", "budget"])
def test_what_does_not_pass_stays_a_failure(cause: str) -> None:
    outcome = told(FAILED, cause=cause)
    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.reason) == (cause, "it is not")


def test_who_succeeds_had_no_trouble() -> None:
    assert told(DONE, cause="rate_limit") is DONE


def test_an_unknown_cause_is_noted_and_left_out() -> None:
    outcome = told(FAILED, cause="bad luck")
    assert isinstance(outcome, Failed)
    assert outcome.cause is None
    assert "its cause is none of" in outcome.notes[-1]


def test_usage_is_taken_over() -> None:
    outcome = told(DONE, usage={"cost_usd": 0.5, "input": 10, "output": 2, "turns": 3})
    assert (outcome.cost_usd, outcome.tokens, outcome.turns) == (0.5, Tokens(input=10, output=2), 3)


def test_money_alone_is_usage_too() -> None:
    outcome = told(DONE, usage={"cost_usd": 0.5})
    assert (outcome.cost_usd, outcome.tokens, outcome.turns) == (0.5, None, None)


@pytest.mark.parametrize("usage", [3, [], "much", {"cost_usd": -1}, {"input": 1.5}, {"output": -2}, {"turns": "x"}])
def test_usage_that_makes_no_sense_is_noted_and_left_out(usage: object) -> None:
    outcome = told(DONE, usage=usage)
    assert isinstance(outcome, Done)
    assert (outcome.cost_usd, outcome.tokens, outcome.summary) == (None, None, "it is done")
    assert "makes no sense" in outcome.notes[-1]


@pytest.mark.parametrize("answer", ["", "[1]", "nonsense", "[" * 100_000])
def test_what_is_no_object_tells_nothing(answer: str) -> None:
    assert with_what_is_told_besides(DONE, answer) is DONE
