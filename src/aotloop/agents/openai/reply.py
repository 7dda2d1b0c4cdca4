"""A streamed reply: its pieces are put together, and its lines are passed on while they come."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_SIGN_OF_LIFE = 5.0
"""Seconds."""


class Collected:
    def __init__(self) -> None:
        self.text: list[str] = []
        self.refusal: list[str] = []
        self.calls: dict[int, dict[str, str]] = {}
        self.finish: str | None = None
        self.usage: Any = None
        self.size = 0

    def add(self, chunk: Any) -> str:
        """Returns the new text."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.finish = choice.finish_reason or self.finish
        delta = choice.delta
        for part in getattr(delta, "tool_calls", None) or ():
            call = self.calls.setdefault(part.index or 0, {"id": "", "name": "", "arguments": ""})
            call["id"] = part.id or call["id"]
            if part.function is not None:
                call["name"] += part.function.name or ""
                call["arguments"] += part.function.arguments or ""
                self.size += len(part.function.arguments or "")
        self.refusal += [delta.refusal] if getattr(delta, "refusal", None) else []
        text = delta.content or ""
        self.text += [text] if text else []
        self.size += len(text)
        return text


class ReplyLines:
    """Passes whole lines on; and a sign of life now and then, while a line or hidden reasoning grows."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._rest, self._told, self._count = tell, "", time.monotonic(), 0

    def add(self, text: str) -> None:
        self._count += 1
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._say(line)
        if time.monotonic() - self._told > _SIGN_OF_LIFE:
            self._say(f"({self._count} pieces so far)")

    def end(self) -> None:
        if self._rest:
            self._say(self._rest)

    def _say(self, line: str) -> None:
        self._told = time.monotonic()
        self._tell(line)
