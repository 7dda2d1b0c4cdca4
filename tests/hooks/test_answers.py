"""What each client is told: Codex stumbles over an approval, and shows no messages."""

from __future__ import annotations

import json

import pytest

from aotloop.hooks.answers import Allow, Answer, Block, Client, Context, Deny, Plain, output
from aotloop.hooks.payload import Payload


@pytest.mark.parametrize(
    ("answer", "client", "expected"),
    [
        (Answer(), "claude", {}),
        (Answer(), "codex", {}),
        (Allow(), "claude", {"decision": "approve"}),
        (Allow(message="done"), "claude", {"decision": "approve", "systemMessage": "done"}),
        (Allow(message="done"), "codex", {}),
        (
            Block(reason="go on", message="2 left"),
            "claude",
            {"decision": "block", "reason": "go on", "systemMessage": "2 left"},
        ),
        (Block(reason="go on", message="2 left"), "codex", {"decision": "block", "reason": "go on"}),
    ],
)
def test_an_answer_to_whoever_wants_to_end(answer: Answer, client: Client, expected: dict[str, str]) -> None:
    assert json.loads(output(answer, "Stop", client)) == expected


def test_a_denial_and_a_context_name_their_event() -> None:
    denied = json.loads(output(Deny(reason="no"), "PreToolUse", "claude"))["hookSpecificOutput"]
    assert denied == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
    told = json.loads(output(Context(text="so it is"), "SessionStart", "codex"))["hookSpecificOutput"]
    assert told == {"hookEventName": "SessionStart", "additionalContext": "so it is"}


def test_plain_words_stay_plain_whatever_is_in_them() -> None:
    assert output(Plain(text='say "é" \ud800'), "PreCompact", "claude") == 'say "é" ?\n'.encode()


def test_there_is_no_answer_that_permits_anything() -> None:
    said = b"".join(output(kind(reason="r"), "PreToolUse", "claude") for kind in (Deny,))
    assert b'"allow"' not in said
    assert b'"ask"' not in said


def test_a_client_that_tells_a_turn_is_codex() -> None:
    assert (Payload(turn_id="t1").client, Payload().client) == ("codex", "claude")
