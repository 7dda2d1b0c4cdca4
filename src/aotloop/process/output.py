"""The output of a process: one reader, sinks that keep a limited part of it, and one splitter into lines."""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Callable
from typing import IO, Protocol

CHUNK = 64 * 1024
"""The default capacity of a pipe."""

HEAD_BYTES = 4 * 1024
TAIL_BYTES = 8 * 1024

LONGEST_LINE = 16 * 1024
"""Characters."""

_MOST_LEFT = 64
"""The most chunks that are read at the end. A pipe holds less, unless a process that we did not find still writes."""


class Sink(Protocol):
    def add(self, chunk: bytes) -> object: ...


class Pipe:
    """The reading end of a pipe. It never waits."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.is_open = True
        os.set_blocking(file.fileno(), False)

    def fileno(self) -> int:
        return self._file.fileno()

    def take(self) -> bytes:
        """One chunk. Empty if there is none now or, if `is_open` is False, if no more can come."""
        if not self.is_open:
            return b""
        try:
            chunk = os.read(self._file.fileno(), CHUNK)
        except BlockingIOError:
            return b""
        self.is_open = bool(chunk)
        return chunk

    def drain(self, sink: Sink) -> None:
        """Reads everything that is there now."""
        for _ in range(_MOST_LEFT):
            chunk = self.take()
            if not chunk:
                return
            sink.add(chunk)

    def close(self) -> None:
        self.is_open = False
        self._file.close()


class Whole:
    """All of a stream, for output whose size the caller has limited in another way; or up to a limit."""

    def __init__(self, limit: int | None = None, on_excess: Callable[[], object] = lambda: None) -> None:
        """`on_excess`: called when there is more than `limit` bytes, which are then no longer kept."""
        self._chunks: list[bytes] = []
        self._limit = limit
        self._on_excess = on_excess
        self._held = 0

    @property
    def is_excessive(self) -> bool:
        return self._limit is not None and self._held > self._limit

    def add(self, chunk: bytes) -> None:
        self._held += len(chunk)
        if not self.is_excessive:
            self._chunks.append(chunk)
        else:
            self._on_excess()

    def data(self) -> bytes:
        return b"".join(self._chunks)

    def text(self) -> str:
        return self.data().decode("utf-8", "replace")


class Tail:
    """The last `limit` bytes of a stream. One more chunk may be kept, so that little is copied."""

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

    def data(self) -> bytes:
        """The data. It begins with a whole character if the stream is text."""
        data = b"".join(self._chunks)[-self._limit :]
        return _from_character_start(data) if self.is_cut else data

    def text(self) -> str:
        return self.data().decode("utf-8", "replace")


class HeadAndTail:
    """The first and the last bytes of a stream, and the number of bytes between them."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = Tail(TAIL_BYTES)

    def add(self, chunk: bytes) -> None:
        missing = HEAD_BYTES - len(self._head)
        if missing > 0:
            self._head += chunk[:missing]
            chunk = chunk[missing:]
        if chunk:
            self._tail.add(chunk)

    def text(self) -> str:
        tail = self._tail.data()
        if not self._tail.is_cut:
            return (self._head + tail).decode("utf-8", "replace")
        # Both cuts may fall inside a character; its bytes are left out, not shown as damaged.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head = decoder.decode(self._head)
        left_out = self._tail.total - len(tail) + len(decoder.getstate()[0])
        return f"{head}\n[{left_out} bytes left out]\n{tail.decode('utf-8', 'replace')}"


def _from_character_start(data: bytes) -> bytes:
    """A character of UTF-8 has at most three continuation bytes; more than that is not text anyway."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


class Lines:
    """Cuts a stream into lines, for all sizes of chunks. Bytes that are not UTF-8 are replaced.

    A line without an end costs no memory: it is passed on in pieces or, with `drops_long`, left out and counted.
    """

    def __init__(self, longest: int = LONGEST_LINE, *, drops_long: bool = False) -> None:
        self._longest = longest
        self._drops_long = drops_long
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._is_too_long = False
        self.left_out = 0

    def add(self, chunk: bytes) -> list[str]:
        first, *others = self._decoder.decode(chunk).split("\n")
        self._grow(first)
        lines: list[str] = []
        if others:
            lines = self._taken() + self._short_enough(others[:-1])
            self._grow(others[-1])
        while not self._drops_long and len(self._begun) > self._longest:
            lines.append(self._begun[: self._longest])
            self._begun = self._begun[self._longest :]
        return lines

    def skim(self, chunk: bytes) -> list[str]:
        """The last line that ended in this chunk, for readers that cannot read all of a flood."""
        ended, newline, begun = (self._begun + self._decoder.decode(chunk)).rpartition("\n")
        self._begun = begun[-self._longest :]
        return [ended.rpartition("\n")[2][-self._longest :].removesuffix("\r")] if newline else []

    def end(self) -> list[str]:
        """The last line, if no newline came after it."""
        self._grow(self._decoder.decode(b"", final=True))
        return self._taken() if self._begun or self._is_too_long else []

    def _grow(self, more: str) -> None:
        if self._drops_long and (self._is_too_long or len(self._begun) + len(more) > self._longest):
            self._is_too_long = True
            self._begun = ""
        else:
            self._begun += more

    def _short_enough(self, whole: list[str]) -> list[str]:
        lines = [line.removesuffix("\r") for line in whole if not self._drops_long or len(line) <= self._longest]
        self.left_out += len(whole) - len(lines)
        return lines

    def _taken(self) -> list[str]:
        line, is_too_long = self._begun.removesuffix("\r"), self._is_too_long
        self._begun, self._is_too_long = "", False
        self.left_out += is_too_long
        return [] if is_too_long else [line]
