"""What an attempt printed, as lines of JSON: its beginning and its end. It never fills a disk, and never fails one.

Each line is `{"at": seconds, "stream": "stdout" | "stderr" | "note", "text": …}`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

MOST_BYTES = 20_000_000
UNEVENTFUL = "exit 0"
"""Of a process that ended so and said nothing, there is nothing to keep."""

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
_END_BYTES = 64 * 1024
"""Of each stream: what is still written of its end when the rest had to be left out."""


class _Entry(msgspec.Struct, frozen=True):
    at: float
    stream: str
    text: str


class Transcript:
    def __init__(self, path: Path, most: int = MOST_BYTES) -> None:
        self._started = time.monotonic()
        self._most = most
        self._written = 0
        self._encoder = msgspec.json.Encoder()
        self.problem: str | None = None
        """Why it is not complete."""
        self._path = path
        self._file: int | None = None
        self._is_over = False

    @property
    def is_full(self) -> bool:
        return self._written >= self._most or self._is_over

    def add(self, stream: str, lines: Sequence[str]) -> None:
        if lines and not self.is_full:
            self._write(stream, lines)

    def close(self, ends: dict[str, str], ending: str) -> None:
        """`ends`: the last of each stream, written if it was left out before."""
        if self._written >= self._most:
            self.problem = f"the transcript was full after {self._most} bytes; the middle of the output is left out"
            self._write("note", [self.problem])
            for stream, text in ends.items():
                self._write(stream, text[-_END_BYTES:].splitlines())
        if self._file is not None or ending != UNEVENTFUL:
            self._write("note", [ending])
        self._let_go()

    def _write(self, stream: str, lines: Sequence[str]) -> None:
        at = round(time.monotonic() - self._started, 3)
        data = self._encoder.encode_lines([_Entry(at, stream, line) for line in lines])
        self._written += len(data)
        try:
            if self._file is None and not self._is_over:
                self._file = os.open(self._path, _FLAGS, 0o600)
            while data and self._file is not None:
                data = data[os.write(self._file, data) :]
        except OSError as error:  # a full disk, for one: the attempt goes on
            self.problem = f"the transcript is not complete: {error.strerror}"
            self._let_go()

    def _let_go(self) -> None:
        self._is_over = True
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None
