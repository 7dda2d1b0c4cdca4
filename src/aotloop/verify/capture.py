"""Whatever a command prints, only the head and the tail of it are kept; what is left out is counted."""

from __future__ import annotations

import codecs

HEAD_BYTES = 4 * 1024
TAIL_BYTES = 8 * 1024


class Capture:
    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._total = 0

    def add(self, chunk: bytes) -> None:
        self._total += len(chunk)
        missing = HEAD_BYTES - len(self._head)
        if missing > 0:
            self._head += chunk[:missing]
            chunk = chunk[missing:]
        self._tail = chunk[-TAIL_BYTES:] if len(chunk) >= TAIL_BYTES else (self._tail + chunk)[-TAIL_BYTES:]

    def text(self) -> str:
        if self._total == len(self._head) + len(self._tail):
            return (self._head + self._tail).decode("utf-8", "replace")
        # Both cuts may fall inside a character; its bytes are left out rather than shown as damaged.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head = decoder.decode(self._head)
        cut = len(decoder.getstate()[0])
        tail = _from_character_start(self._tail)
        left_out = self._total - (len(self._head) - cut) - len(tail)
        return f"{head}\n[{left_out} bytes left out]\n{tail.decode('utf-8', 'replace')}"


def _from_character_start(data: bytes) -> bytes:
    """A character of UTF-8 has at most three continuation bytes; more than that is not text anyway."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
