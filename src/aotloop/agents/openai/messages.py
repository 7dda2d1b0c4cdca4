"""The messages of a conversation: how they are written, how long they are, and what is left out of a long one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from aotloop.text.shorten import cut

CHARACTERS_PER_TOKEN = 3.5
_LEFT_OUT = "(left out: read it again if you need it)"
_SHORT = 200
"""Characters of a result that are always shown."""

Message = dict[str, Any]


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, as the model wrote it."""

    id: str
    name: str
    arguments: str


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str, calls: Sequence[Called] = ()) -> Message:
    if not calls:
        return {"role": "assistant", "content": text}
    told = [
        {"id": call.id, "type": "function", "function": {"name": call.name or "unknown", "arguments": _object(call)}}
        for call in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": told}


def result(call: Called, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def _object(call: Called) -> str:
    """Servers refuse a conversation in which the arguments of a call are no JSON object; the model was told."""
    try:
        return call.arguments if isinstance(json.loads(call.arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"


def estimated(messages: Sequence[Message], options: Any = None) -> int:
    """Tokens, roughly: for servers that do not count, and before a request. Its options are read by the model too."""
    size = sum(map(len, _texts(messages))) + (len(json.dumps(options)) if options else 0)
    return round(size / CHARACTERS_PER_TOKEN) + 8 * len(messages)


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield message.get("content") or ""
        yield from (call["function"]["arguments"] for call in message.get("tool_calls") or ())


def fitting(messages: Sequence[Message], room: int) -> list[Message]:
    """The oldest results of tools are left out until the rest fits. The newest, not yet seen, share what is left."""
    kept = list(messages)
    asked = max((number for number, message in enumerate(kept) if message["role"] == "assistant"), default=len(kept))
    for number in range(2, asked):
        if kept[number]["role"] != "assistant" and estimated(kept) > room:
            kept[number] = _with(kept[number], _LEFT_OUT)
    new = range(asked + 1, len(kept))
    if new and estimated(kept) > room:
        others = estimated([*kept[: asked + 1], *(_with(kept[number], "") for number in new)])
        share = max(_SHORT, int((room - others) * CHARACTERS_PER_TOKEN / len(new)))
        kept[asked + 1 :] = [_with(kept[number], cut(kept[number]["content"], share)) for number in new]
    return kept


def _with(message: Message, content: str) -> Message:
    return {**message, "content": content}
