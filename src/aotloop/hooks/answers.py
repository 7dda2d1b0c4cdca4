"""What a hook can answer, and how that is said to each client. Codex takes an empty object where others approve."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Client = Literal["claude", "codex"]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing: this is none of ours, and all is as if there were no hook."""


class Allow(Answer, frozen=True, kw_only=True):
    """Whoever wants to end may end. `message` is for the person."""

    message: str | None = None


class Block(Answer, frozen=True, kw_only=True):
    """Whoever wants to end goes on, with `reason` as its instruction."""

    reason: str
    message: str


class Deny(Answer, frozen=True, kw_only=True):
    """The tool is not used; whoever wanted to use it reads why. There is no answer that permits one."""

    reason: str


class Context(Answer, frozen=True, kw_only=True):
    """The model reads this beside what it is told anyway."""

    text: str


class Plain(Answer, frozen=True, kw_only=True):
    """Words instead of an object: what is said before a compaction becomes part of its instructions."""

    text: str


def joined(first: Answer, second: Answer) -> Answer:
    """What two loops of a session say: whoever may go on for one of them goes on for the other."""
    match first, second:
        case (Context(text=one), Context(text=two)):
            return Context(text=f"{two}\n\n{one}")
        case (Plain(text=one), Plain(text=two)):
            return Plain(text=f"{two}\n\n{one}")
        case (Allow(message=str(one)), Block(reason=reason, message=two)):
            return Block(reason=f"{one}\n{reason}", message=f"{one} {two}")
        case (Allow(message=str(one)), Allow(message=two)):
            return Allow(message=one if two is None else f"{one} {two}")
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
