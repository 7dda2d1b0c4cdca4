"""Server-sent events, from bytes in pieces of any size, in bounded memory: only this module reads a reply's bytes.

The decoder of the package `openai` keeps a line of any length, and does not tell whether the stream came to its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import httpx2

_LONGEST_EVENT = 16_000_000
_MOST_STRAY = 1_000_000
_LONGEST_REPLY = 100_000_000
_LONGEST_ERROR = 100_000
"""Bytes; what comes after them is not read."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FIELD = re.compile(r"(data|event|id|retry)?:|(data|event|id|retry)$")
_DONE = "[DONE]"


def bounded(response: httpx2.Response) -> None:
    """The package `openai` reads a whole error, however long it is."""
    response.stream = _Bounded(response.stream, _LONGEST_ERROR if response.is_error else _LONGEST_REPLY)


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, stream: Any, most: int) -> None:
        self._stream, self._left = stream, most

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            yield piece[: self._left]
            self._left -= len(piece)
            if self._left <= 0:
                return

    def close(self) -> None:
        self._stream.close()


class ServerEvents:
    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self._data: list[str] = []
        self._stray: list[str] = []
        self._sizes = {"data": 0, "stray": 0}
        self._is_first = True
        self.is_done = False
        """The server said that this is all."""

    @property
    def stray(self) -> str:
        """What stands beside the events: all of it, if the reply is no stream."""
        return "\n".join(self._stray).strip()

    def __iter__(self) -> Iterator[Any]:
        """Events that are JSON. Raises ValueError for one that is not, or that is too long."""
        for line in self._lines():
            data = self._take(line)
            if data is not None and data.startswith(_DONE):
                self.is_done = True
                return
            if data:
                yield _read(data)

    def _lines(self) -> Iterator[str]:
        rest = b""
        for piece in self._pieces:
            rest += piece
            held = b"\r" if rest.endswith(b"\r") else b""  # perhaps the first half of a line's end
            *whole, rest = _LINE_END.split(rest.removesuffix(b"\r"))
            if held:
                rest += held
            yield from map(_decoded, whole)
            if len(rest) > _LONGEST_EVENT:
                raise ValueError("an event is too long")
        yield from map(_decoded, _LINE_END.split(rest))
        yield ""  # an event without the empty line after it was sent whole, or is no JSON

    def _take(self, line: str) -> str | None:
        """The data of an event, at its end."""
        if self._is_first:
            self._is_first, line = False, line.removeprefix("\ufeff")
        if not line:
            data, self._data, self._sizes["data"] = "\n".join(self._data), [], 0
            return data
        if _FIELD.match(line) is None:
            self._keep("stray", self._stray, line, _MOST_STRAY)
        elif line.startswith("data"):
            self._keep("data", self._data, line[5:].removeprefix(" "), _LONGEST_EVENT)
        return None

    def _keep(self, kind: str, kept: list[str], line: str, most: int) -> None:
        self._sizes[kind] += len(line) + 1
        if self._sizes[kind] > most:
            raise ValueError("an event is too long")
        kept.append(line)


def _read(data: str) -> Any:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("an event is too deep") from None


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")
