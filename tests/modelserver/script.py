"""What the model is to say, as data: scripts, each a list of turns for the conversations it is meant for.

A turn is what is said (`Say`, `Call`, `Answer`, `Refuse`) or an error instead of it (`Fail`); its `delivery` is how
that goes over the wire, its `usage` what the client is told that it cost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.modelserver.exchange import Exchange

# --- what it costs, and how it is sent -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens. `input` are those that no cache had."""

    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )


USUAL = Usage()
NOTHING = Usage(input=0, output=0)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A reply that is not streamed is one event. Seconds; `math.inf` is for ever."""

    wait: float = 0.0
    """Before the first byte, headers included."""
    once: Callable[[], object] | None = None
    """Before the first byte, until this holds."""
    pause: float = 0.0
    """Before each event."""
    events: int | None = None
    """Only so many are sent as they should be. None: all."""
    then: Literal["stall", "ping", "cut", "end", "garble"] = "cut"
    """After those: send nothing any more; only signs of life; reset the connection; end the body in order, as if that
    had been all; or send the next one as broken JSON, and the rest as they should be."""


AS_IT_SHOULD_BE = Delivery()


def slow(pause: float, wait: float = 0.0) -> Delivery:
    return Delivery(wait=wait, pause=pause)


def held_until(condition: Callable[[], object]) -> Delivery:
    return Delivery(once=condition)


def silent() -> Delivery:
    """Takes the request and never answers."""
    return Delivery(wait=math.inf)


def stalled(after: int = 3) -> Delivery:
    return Delivery(events=after, then="stall")


def cut(after: int = 3) -> Delivery:
    return Delivery(events=after, then="cut")


def garbled(after: int = 3) -> Delivery:
    return Delivery(events=after, then="garble")


# --- turns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Turn:
    usage: Usage = USUAL
    delivery: Delivery = AS_IT_SHOULD_BE


@dataclass(frozen=True)
class Say(Turn):
    text: str


@dataclass(frozen=True)
class ToolCall:
    """Arguments that are a string go to a tool that takes text, not JSON (`apply_patch`)."""

    name: str
    arguments: Mapping[str, Any] | str


def tool(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


@dataclass(frozen=True, init=False)
class Call(Turn):
    """One tool, or several at once; `text` is said before."""

    calls: tuple[ToolCall, ...]
    text: str

    def __init__(
        self, *calls: ToolCall, text: str = "", usage: Usage = USUAL, delivery: Delivery = AS_IT_SHOULD_BE
    ) -> None:
        for name, value in {"calls": calls, "text": text, "usage": usage, "delivery": delivery}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Answer(Turn):
    """A structured result, in the way the request asks for one: by a tool made for it, or else as JSON text."""

    value: Mapping[str, Any]


@dataclass(frozen=True)
class Refuse(Turn):
    text: str = "I can't help with that."


@dataclass(frozen=True)
class Fail(Turn):
    """An HTTP error; `tests.modelserver.errors` has those that occur. Costs nothing."""

    status: int
    kind: str
    message: str
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    in_stream: bool = False
    """The status is 200, the headers are lost, and the error comes as an event."""


# --- scripts -------------------------------------------------------------------------------------------------------

Step = Turn | Callable[[Exchange], Turn]
"""A function is asked when its turn comes: for what depends on the request."""


@dataclass(frozen=True)
class Script:
    """For conversations whose first user text has a match of `when`, or for which `when` is true.

    Each conversation starts at the first turn. A request takes one turn, a client's retry takes the next.
    """

    when: str | re.Pattern[str] | Callable[[Exchange], bool]
    turns: Sequence[Step]
    plays: int | None = None
    """For how many conversations; the next one gets the next script that fits."""

    def fits(self, exchange: Exchange) -> bool:
        if callable(self.when):
            return self.when(exchange)
        return re.search(self.when, exchange.prompt) is not None
