"""A loop belongs to the session in which a person asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.hooks.answers import Answer, Context
from aotloop.hooks.payload import Payload
from aotloop.hooks.user_prompt import COMMAND, Request, decide, request_in
from tests.hooks.shim import quick
from tests.hooks.situations import SESSION, driven

PROMPTS = pytest.mark.parametrize(
    ("prompt", "request_"),
    [
        ("/aot-loop:enter-recursion", Request()),
        ("/enter-recursion", Request()),
        ("  /aot-loop:enter-recursion  take-over\n", Request(take_over=True)),
        ("$enter-recursion take-over", Request(take_over=True)),
        ("$aot-loop:source-command-enter-recursion", Request()),
        ("$aot-loop:source-command-enter-recursion take-over", Request(take_over=True)),
        ("$aot-loop:source-command-enter-recursion accept 0123abcd", Request(accepted="0123abcd")),
        ("$source-command-enter-recursion", Request()),
        ("$other:source-command-enter-recursion", None),
        ("$aot-loop:source-command-exit-recursion", None),
        ("$aot-loop:aot-loop:enter-recursion", None),
        ("/aot-loop:enter-recursion accept 0123abcd", Request(accepted="0123abcd")),
        ("/aot-loop:enter-recursion accept 0123abcd take-over", Request(accepted="0123abcd", take_over=True)),
        ("/aot-loop:enter-recursion accept", Request()),
        ("/aot-loop:enter-recursions", None),
        ("/other:enter-recursion", None),
        ("please /aot-loop:enter-recursion", None),
        ("<task-notification>/aot-loop:enter-recursion</task-notification>", None),
        ("enter-recursion", None),
        ("", None),
    ],
)


@PROMPTS
def test_only_the_command_as_it_was_typed_is_a_request(prompt: str, request_: Request | None) -> None:
    assert request_in(prompt) == request_


@PROMPTS
def test_the_shim_lets_through_what_is_a_request_and_nothing_else(prompt: str, request_: Request | None) -> None:
    assert (quick().command_in(prompt) == COMMAND) is (request_ is not None)


def asked(words: str = "", **more: Any) -> Payload:
    return Payload(**{"session_id": "mine", "prompt": f"/aot-loop:enter-recursion {words}", **more})


@pytest.mark.parametrize("status", ["pending", "stopped", "completed"])
def test_a_loop_that_does_not_run_is_bound_to_whoever_asks(status: Any) -> None:
    loop = driven(status=status)
    assert decide(asked(), loop) == Answer()
    assert loop.control.session_id == "mine"


def test_a_running_loop_that_nobody_drives_is_bound() -> None:
    loop = driven(session_id=None)
    decide(asked(), loop)
    assert loop.control.session_id == "mine"


def test_a_running_loop_stays_with_its_session_unless_the_person_takes_it_over() -> None:
    loop = driven()
    refusal = decide(asked(), loop)
    assert isinstance(refusal, Context)
    assert "/aot-loop:enter-recursion take-over" in refusal.text
    assert loop.control.session_id == SESSION
    assert decide(asked("take-over"), loop) == Answer()
    assert loop.control.session_id == "mine"


def test_in_codex_the_person_is_told_what_is_typed_there() -> None:
    refusal = decide(asked(turn_id="t1"), driven())
    assert isinstance(refusal, Context)
    assert "`$aot-loop:source-command-enter-recursion take-over`" in refusal.text


def test_the_same_session_may_ask_again() -> None:
    loop = driven(session_id="mine")
    assert decide(asked(), loop) == Answer()


@pytest.mark.parametrize("payload", [asked(session_id=""), asked(agent_type="aot-loop:worker"), asked(prompt="hello")])
def test_nobody_else_is_bound(payload: Payload) -> None:
    loop = driven(status="pending", session_id=None)
    assert decide(payload, loop) == Answer()
    assert loop.control.session_id is None


def test_what_another_process_runs_is_left_to_it() -> None:
    loop = driven(session_id=None)
    assert decide(asked("take-over"), loop, is_run_elsewhere=True) == Answer()
    assert loop.control.session_id is None
