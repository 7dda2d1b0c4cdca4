"""The answers of a hook, and their form for each client. Codex takes an empty object where others approve."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Client = Literal["claude", "codex"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """No answer: the call does not concern a loop, and the client acts as if there were no hook."""


class Allow(Answer, frozen=True, kw_only=True):
    """The agent or session may end. `message` is for the person."""

    message: str | None = None


class Block(Answer, frozen=True, kw_only=True):
    """The agent or session must continue, with `reason` as its instruction."""

    reason: str
    message: str


class Deny(Answer, frozen=True, kw_only=True):
    """The tool is not used, and the agent reads why. There is no answer that permits a tool."""

    reason: str


class Context(Answer, frozen=True, kw_only=True):
    """Additional text for the model."""

    text: str


class Plain(Answer, frozen=True, kw_only=True):
    """Text instead of an object: text before a compaction becomes part of its instructions."""

    text: str


def joined(first: Answer, second: Answer) -> Answer:
    """The joined answer of two loops of one session: if one of them blocks the end, the session continues."""
    match first, second:
        case (Context(text=text), Context(text=other)):
            return Context(text=f"{other}\n\n{text}")
        case (Plain(text=text), Plain(text=other)):
            return Plain(text=f"{other}\n\n{text}")
        case (Allow(message=str(message)), Block(reason=reason, message=other)):
            return Block(reason=f"{message}\n{reason}", message=f"{message} {other}")
        case (Allow(message=str(message)), Allow(message=other)):
            return Allow(message=message if other is None else f"{message} {other}")
        case _:
            return second if second != Answer() else first


def output(answer: Answer, event: str, client: Client) -> bytes:
    if isinstance(answer, Plain):
        return answer.text.encode("utf-8", "replace") + b"\n"
    return msgspec.json.encode(_data(answer, event, client)) + b"\n"


def _data(answer: Answer, event: str, client: Client) -> dict[str, Any]:
    is_claude = client == "claude"
    match answer:
        case Allow(message=message):
            return {"decision": "approve", **_said(message)} if is_claude else {}
        case Block(reason=reason, message=message):
            return {"decision": "block", "reason": reason, **(_said(message) if is_claude else {})}
        case Deny(reason=reason):
            denied = {"permissionDecision": "deny", "permissionDecisionReason": reason}
            return {"hookSpecificOutput": {"hookEventName": event, **denied}}
        case Context(text=text):
            return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        case _:
            return {}


def _said(message: str | None) -> dict[str, str]:
    return {} if message is None else {"systemMessage": message}
