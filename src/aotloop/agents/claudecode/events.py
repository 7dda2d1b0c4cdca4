"""Bytes become events, one a line, however they were cut into chunks; in bounded memory, whatever comes.

Read by `json`, not by msgspec: JavaScript prints halves of characters, where it has cut a text in the middle of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]

_MOST = 1024 * 1024
"""Bytes of one line: what is longer (a whole file, say) is left out."""


class Events:
    def __init__(self) -> None:
        self._begun = bytearray()
        self._is_too_long = False

    def add(self, chunk: bytes) -> Iterator[Event | str]:
        """An event, or a line that is none."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._grow(end)
            yield from self.end()
        self._grow(rest)

    def end(self) -> Iterator[Event | str]:
        """What has been begun is all there is of this line."""
        line, self._begun = self._begun.decode("utf-8", "replace").removesuffix("\r"), bytearray()
        if line and not self._is_too_long:
            event = _as_event(line)
            yield line if event is None else event
        self._is_too_long = False

    def _grow(self, more: bytes) -> None:
        self._is_too_long = self._is_too_long or len(self._begun) + len(more) > _MOST
        if self._is_too_long:
            self._begun.clear()
        else:
            self._begun += more


def is_cut(line: str) -> bool:
    """Whether it is the beginning of an event, and no more."""
    return line.startswith("{") and _decoded(line) is None


def _as_event(line: str) -> Event | None:
    """With its type somewhere: the order of its keys is not fixed."""
    value = _decoded(line) if line.startswith("{") else None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _decoded(text: str) -> Any:
    """None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
