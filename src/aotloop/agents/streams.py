"""Bytes become lines as they come; of what went by only the end is kept, whatever its size."""

from __future__ import annotations

import codecs
from collections import deque

LONGEST_LINE = 16 * 1024
"""Characters. A longer line is handed on in pieces."""


class Tail:
    """The last `limit` bytes of a stream. One chunk more may be held, so that little is copied."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._chunks.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._chunks[0]) >= self._limit:
            self._held -= len(self._chunks.popleft())

    @property
    def is_cut(self) -> bool:
        return self.total > self._limit

    def text(self) -> str:
        data = b"".join(self._chunks)[-self._limit :]
        if self.is_cut:  # perhaps inside a character, which has at most three bytes after its first
            start = next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0)
            data = data[start:]
        return data.decode("utf-8", "replace")


class Lines:
    """Cuts a stream into lines, however it was cut into chunks. What is not UTF-8 is replaced."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    def add(self, chunk: bytes) -> list[str]:
        *whole, self._begun = (self._begun + self._decoder.decode(chunk)).split("\n")
        lines = [line.removesuffix("\r") for line in whole]
        while len(self._begun) > LONGEST_LINE:
            lines.append(self._begun[:LONGEST_LINE])
            self._begun = self._begun[LONGEST_LINE:]
        return lines

    def skim(self, chunk: bytes) -> list[str]:
        """The last line that ended in this chunk, for who cannot read all of a flood."""
        ended, newline, begun = (self._begun + self._decoder.decode(chunk)).rpartition("\n")
        self._begun = begun[-LONGEST_LINE:]
        return [ended.rpartition("\n")[2][-LONGEST_LINE:].removesuffix("\r")] if newline else []

    def end(self) -> list[str]:
        """The last line, if no newline came after it."""
        rest = self._begun + self._decoder.decode(b"", final=True)
        self._begun = ""
        return [rest] if rest else []
