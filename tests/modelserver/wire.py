"""What the three APIs have in common: server-sent events, JSON, and text that comes in pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.modelserver.connection import Request
from tests.modelserver.exchange import Exchange
from tests.modelserver.script import Answer, Call, Fail, Refuse, Say, ToolCall, Turn

_PIECE = 24


@dataclass(frozen=True, kw_only=True)
class Reply:
    events: Sequence[bytes]
    body: bytes
    """All of it, for a client that does not want a stream."""
    ping: bytes = b": ping\n\n"


class Dialect(Protocol):
    def read(self, request: Request) -> Exchange: ...

    def reply(self, exchange: Exchange, turn: Turn, number: int) -> Reply:
        """`number` makes identifiers differ."""
        ...

    def error(self, fail: Fail) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class Speech:
    """A turn, whatever its kind: what is said and what is called."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    is_refusal: bool = False


def speech(turn: Turn, answering: Callable[[Mapping[str, Any]], ToolCall | None]) -> Speech:
    """`answering`: the tool call by which a structured result is given, if that is how."""
    match turn:
        case Say():
            return Speech(text=turn.text)
        case Call():
            return Speech(text=turn.text, calls=turn.calls)
        case Answer():
            call = answering(turn.value)
            return Speech(text="", calls=(call,)) if call else Speech(text=json.dumps(turn.value))
        case Refuse():
            return Speech(text=turn.text, is_refusal=True)
        case _:
            raise TypeError(f"{turn} is not something to say")


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def event(value: Mapping[str, Any]) -> bytes:
    """With its type as its name, as Messages and Responses have it."""
    return f"event: {value['type']}\n".encode() + data(value)


def data(value: Mapping[str, Any]) -> bytes:
    return b"data: " + encoded(value) + b"\n\n"


def broken(frame: bytes) -> bytes:
    """The same, as if the end of its JSON had been lost."""
    return frame.rstrip()[: -len(frame) // 3] + b"\n\n"


def pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def arguments_of(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
