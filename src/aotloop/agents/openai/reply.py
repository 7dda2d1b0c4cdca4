"""A streamed reply: its pieces are put together, and its lines are passed on while they come.

The pieces are read as they are, not as they should be: servers leave keys out, and put others in their place.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from aotloop.agents.attempt.usage import highest
from aotloop.agents.contract import Tokens
from aotloop.agents.openai.messages import CHARACTERS_PER_TOKEN, Called

_SIGN_OF_LIFE = 5.0
"""Seconds."""
_MOST_TOKENS = 2**53
_MOST_USD = 1e6
_THOUGHT = re.compile(r"\s*<(?P<tag>think|thinking|thought|reasoning)>")
_THOUGHTS_END = "</think>"
_MOST_CALLS = 20
"""Of one turn. What a model asks for beyond them is not done, and stands nowhere in the conversation."""
_BROKEN = frozenset(("abort", "aborted", "cancelled", "error", "failed"))


class Collected:
    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._at: dict[int, int] = {}
        """The number that the server gives to a call → its place here."""
        self.refusal = ""
        self.finish: str | None = None
        self.usage: Tokens | None = None
        self.cost: float | None = None
        """USD, if the service tells what it takes for a reply, as OpenRouter does."""
        self.size = 0
        """Characters of the answer, thoughts included."""
        self.is_any = False
        """Whether anything was said at all."""

    @property
    def text(self) -> str:
        return without_thoughts(_mended("".join(self._text)))

    @property
    def is_whole(self) -> bool:
        """Whether it came to an end, and not to one that the server calls a failure of its own."""
        return self.finish is not None and self.finish not in _BROKEN

    @property
    def estimate(self) -> int:
        """Tokens, roughly: for servers that do not count."""
        return round(self.size / CHARACTERS_PER_TOKEN)

    def calls(self, turn: int) -> tuple[Called, ...]:
        """Ids that the server left out are made up, each once in a conversation, as the strictest server wants them."""
        return tuple(
            Called(
                id=call["id"] or f"call{turn % 1000:03}{number % 100:02}",
                name=_mended(call["name"]),
                arguments=_mended(call["arguments"]),
            )
            for number, call in enumerate(self._calls[:_MOST_CALLS])
        )

    def add(self, event: Any) -> str:
        """Returns the new text."""
        told = _mapping(event)
        self._count(_mapping(told.get("usage")))
        choices = told.get("choices")
        choice = _mapping(choices[0] if isinstance(choices, list) and choices else None)
        if isinstance(choice.get("finish_reason"), str):
            self.finish = choice["finish_reason"] or self.finish or "stop"
        said = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self.is_any = self.is_any or bool(said) or self.finish is not None
        for part in _list(said.get("tool_calls")):
            self._take_call(_mapping(part))
        if said.get("function_call"):
            self._take_call({"index": 0, "function": said["function_call"]})
        self.refusal += _words(said.get("refusal"))
        self.size += len(_words(said.get("reasoning_content")) or _words(said.get("reasoning")))
        text = _words(said.get("content"))
        self._text += [text] if text else []
        self.size += len(text)
        return text

    def _take_call(self, part: Mapping[str, Any]) -> None:
        """Fragments belong together by number; another id, or another name, at the same number is another call."""
        function, number = _mapping(part.get("function")), part.get("index")
        given, name = _words(part.get("id")), _words(function.get("name"))
        number = number if isinstance(number, int) else (len(self._calls) if name else max(len(self._calls) - 1, 0))
        before = self._calls[self._at[number]] if number in self._at else None
        is_new = before is None or (given and before["id"] and given != before["id"]) or (name and _is_whole(before))
        if is_new or before is None:
            self._at[number] = len(self._calls)
            before = {"id": "", "name": "", "arguments": ""}
            self._calls.append(before)
        before["id"] = given or before["id"]
        before["name"] += name
        arguments = function.get("arguments")
        more = arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments is not None else ""
        before["arguments"] += more
        self.size += len(more)

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Counters of a stream only grow: the highest number of each kind counts."""
        given, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
        cached = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens") or 0
        counts = [count for count in (given, made, cached) if isinstance(count, int) and 0 <= count < _MOST_TOKENS]
        if len(counts) == 3 and counts[0] >= counts[2] and counts[0]:  # 0: it does not count
            now = Tokens(input=counts[0] - counts[2], output=counts[1], cache_read=counts[2])
            self.usage = highest(self.usage, now) if self.usage is not None else now
        cost = usage.get("cost")
        if isinstance(cost, int | float) and 0 <= cost < _MOST_USD:
            self.cost = max(cost, self.cost or 0.0)


def without_thoughts(text: str) -> str:
    """Files and answers in thoughts are not meant. Some servers leave out where the thoughts begin."""
    if (beginning := _THOUGHT.match(text)) is not None:
        return text.partition(f"</{beginning['tag']}>")[2]
    before, _, after = text.partition(_THOUGHTS_END)
    is_in_a_file = before.count("```") % 2 == 1
    return text if before == text or is_in_a_file or "<think>" in before else after


def _mended(text: str) -> str:
    """Servers cut a character into two halves; a half that is left alone could not be sent back."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_whole(call: Mapping[str, str]) -> bool:
    try:
        return isinstance(json.loads(call["arguments"]), dict)
    except (ValueError, RecursionError):
        return False


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: Any) -> str:
    """A text, or the texts of its parts."""
    if isinstance(value, str):
        return value
    return "".join(_words(_mapping(part).get("text")) for part in _list(value))


class ReplyLines:
    """Passes whole lines on; and a sign of life now and then, while a line or hidden reasoning grows."""

    def __init__(self, tell: Callable[[str], None], on_life: Callable[[], None] = lambda: None) -> None:
        """`on_life` is called as often as there is a sign of life."""
        self._tell, self._rest, self._told, self._count = tell, "", time.monotonic(), 0
        self._on_life, self._lived = on_life, time.monotonic()

    def add(self, text: str) -> None:
        self._count += 1
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._say(line)
        now = time.monotonic()
        if now - self._told > _SIGN_OF_LIFE:
            self._say(f"({self._count} pieces so far)")
        if now - self._lived > _SIGN_OF_LIFE:
            self._lived = now
            self._on_life()

    def end(self) -> None:
        if self._rest:
            self._say(self._rest)

    def _say(self, line: str) -> None:
        self._told = time.monotonic()
        self._tell(line)
