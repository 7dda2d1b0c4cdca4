"""The messages of a conversation: how they are written, and how many fit into the context of a model.

A server may read less than is configured, as one with the usual settings of its maker; only its refusal tells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from aotloop.agents.client.service_errors import Trouble
from aotloop.text.shorten import cut

CHARACTERS_PER_TOKEN = 3.5
_LEFT_OUT = "(left out: read it again if you need it)"
_SHORT = 200
"""Characters of a result that are always shown."""
_LEAST, _LEAST_ANSWER, _MOST_ANSWER = 1024, 64, 8192
"""Tokens."""
_TOLD = re.compile(r"context (?:length|size|window)\D{0,20}(\d{3,8})", re.IGNORECASE)

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


class ContextWindow:
    def __init__(self, tokens: int, tell: Callable[[str], None]) -> None:
        self.tokens = tokens
        self._tell = tell

    @property
    def _most(self) -> int:
        """Tokens of one answer."""
        return max(256, min(_MOST_ANSWER, self.tokens // 3))

    def fitting(self, messages: Sequence[Message], tools: Any) -> list[Message]:
        return fitting(messages, self.tokens - self._most - estimated([], tools))

    def answer(self, messages: Sequence[Message], options: Any) -> int:
        """Tokens for an answer to these messages; 0: they are too long."""
        room = self.tokens - estimated(messages, options)
        return min(self._most, room) if room >= _LEAST_ANSWER else 0

    def is_shrunk_by(self, met: Trouble) -> bool:
        """Whether a shorter conversation may be what the server wants."""
        if met.cause != "too_long" or self.tokens <= _LEAST:
            return False
        told = [int(digits) for digits in _TOLD.findall(met.words) if int(digits) < self.tokens]
        self.tokens = max(_LEAST, told[0] if told else self.tokens // 2)
        self._tell(f"(the server reads less than is configured; tried now: context = {self.tokens})")
        return True
