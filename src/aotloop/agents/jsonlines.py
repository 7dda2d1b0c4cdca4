"""Bytes become JSON objects, one a line, however they were cut into chunks; in bounded memory, whatever comes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

LONGEST = 1_500_000
"""Bytes. A longer line is left out, and counted."""


class JsonLines:
    def __init__(self) -> None:
        self._begun = bytearray()
        self._is_too_long = False
        self.left_out = 0

    def add(self, chunk: bytes) -> Iterator[dict[str, Any] | str]:
        """An object, or the text of a line that is none; blank lines are nothing."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._grow(end)
            line, is_too_long = bytes(self._begun), self._is_too_long
            self._begun.clear()
            self._is_too_long = False
            if is_too_long:
                self.left_out += 1
            elif line.strip():
                yield _read(line)
        self._grow(rest)

    def _grow(self, more: bytes) -> None:
        if len(self._begun) + len(more) > LONGEST:
            self._is_too_long = True
            self._begun.clear()
        if not self._is_too_long:
            self._begun += more


def _read(line: bytes) -> dict[str, Any] | str:
    """Clients in JavaScript print half of a surrogate pair, which msgspec refuses and Python does not."""
    text = line.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        with suppress(ValueError, RecursionError):
            found: dict[str, Any] = json.loads(text)
            return found
    return text
