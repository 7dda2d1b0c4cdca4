"""A session that lost its memory is told where its loop is; any other is told nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import TrailEntry
from aotloop.hooks.answers import Answer, Context, Plain
from aotloop.hooks.payload import Payload
from aotloop.hooks.session_start import at_start, before_compaction
from tests.hooks.situations import driven, session
from tests.loops import atom

FAILURE = TrailEntry(reason="no such option", timestamp="now", type="failure", atom="A2", attempt=1)


def anchor(**control: Any) -> str:
    loop = driven(atom("A1", status="resolved"), atom("A2"), atom("A3", status="in_progress"), iteration=4, **control)
    loop.trail.append(FAILURE)
    payload = at_start(session(), loop)
    assert isinstance(payload, Context)
    return payload.text


def test_it_holds_objective_unresolved_atoms_last_failures_and_the_next_step() -> None:
    text = anchor()
    for part in (
        "Objective: It works",
        "Done when: the tests pass",
        "Iteration 4 of 20",
        "- A2: do A2",
        "Ready: A2.",
        "In progress: A3.",
        "A2, attempt 1: no such option",
        "Next: no coordinator runs. Start aot-loop:coordinator once, then end your turn",
    ):
        assert part in text
    assert "- A1" not in text


def test_what_the_person_asked_for_comes_first() -> None:
    assert "Next: the person asked to stop" in anchor(stop_requested=True)
    assert "Next: the person is changing its direction" in anchor(redirect_requested=True)


def test_before_a_compaction_the_same_is_said_in_plain_words() -> None:
    payload = before_compaction(session(), driven())
    assert isinstance(payload, Plain)
    assert payload.text.startswith("Keep in the summary")
    assert "Objective: It works" in payload.text


@pytest.mark.parametrize("status", ["pending", "stopped", "completed"])
def test_a_loop_that_does_not_run_is_not_mentioned(status: Any) -> None:
    assert at_start(session(), driven(status=status)) == before_compaction(session(), driven(status=status)) == Answer()


@pytest.mark.parametrize("payload", [Payload(session_id="another"), Payload(session_id="")])
def test_another_session_is_told_nothing(payload: Payload) -> None:
    loop = driven()
    loop.control = replace(loop.control, session_id=loop.control.session_id if payload.session_id else "")
    assert at_start(payload, loop) == before_compaction(payload, loop) == Answer()


def test_it_is_bounded_however_large_the_loop_is() -> None:
    loop = driven(*[atom(f"A{number}", description="long " * 5_000) for number in range(1_000)])
    loop.objective = replace(loop.objective, goal="x" * 1_000_000)
    loop.trail += [replace(FAILURE, reason="y" * 1_000_000)] * 100
    payload = at_start(session(), loop)
    assert isinstance(payload, Context)
    assert len(payload.text) < 5_000
