"""What an attempt prints: it is followed, shown in short lines, and kept as a bounded transcript."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from aotloop.agents.answers.extraction import MOST_BYTES
from aotloop.foreign_files import open_to_append
from aotloop.process.output import Lines, Tail
from aotloop.process.transport import Listener, Transport
from aotloop.text.shorten import one_line

_OUTPUT_BYTES = 8 * 1024


class Following:
    def __init__(self, transcript: Path, on_output: Callable[[str], None], listener: Listener | None = None) -> None:
        """`listener` gets all output unchanged; then `on_output` gets no lines from here."""
        self._transcript = Transcript(transcript)
        self._on_output = on_output
        self._listener = listener
        self._lines = {"stdout": Lines(), "stderr": Lines()}
        self.tails = {"stdout": Tail(MOST_BYTES), "stderr": Tail(MOST_BYTES)}
        self.output = Tail(_OUTPUT_BYTES)
        self.has_begun = False

    @property
    def problems(self) -> tuple[str, ...]:
        return (self._transcript.problem,) if self._transcript.problem is not None else ()

    def begin(self, transport: Transport) -> None:
        self.has_begun = True
        if self._listener is not None:
            self._listener.begin(transport)

    def hear(self, stream: str, chunk: bytes) -> None:
        self.tails[stream].add(chunk)
        self.output.add(chunk)
        lines = self._lines[stream]
        whole = lines.skim(chunk) if self._transcript.is_full else lines.add(chunk)
        self._transcript.add(stream, whole)
        if self._listener is not None:
            self._listener.hear(stream, chunk)
        else:
            self._hand_on(whole)

    def hand_on_the_rest(self) -> None:
        """Passes the last lines on if they do not end with a newline."""
        for stream, lines in self._lines.items():
            rest = lines.end()
            self._transcript.add(stream, rest)
            if self._listener is None:
                self._hand_on(rest)

    def close(self, ending: str) -> None:
        for stream, lines in self._lines.items():
            self._transcript.add(stream, lines.end())
        self._transcript.close({name: tail.text() for name, tail in self.tails.items()}, ending)

    def _hand_on(self, lines: list[str]) -> None:
        for line in lines:
            self._on_output(line)


MOST_TRANSCRIPT_BYTES = 20_000_000
UNEVENTFUL = "exit 0"
"""A process that ended so and printed nothing leaves nothing to keep."""

_END_BYTES = 64 * 1024
"""The size of each stream's end that is still written when the middle is left out."""


class _Entry(msgspec.Struct, frozen=True):
    at: float
    stream: str
    text: str


class Transcript:
    def __init__(self, path: Path, most: int = MOST_TRANSCRIPT_BYTES) -> None:
        self._started = time.monotonic()
        self._most = most
        self._written = 0
        self._encoder = msgspec.json.Encoder()
        self.problem: str | None = None
        """Why the transcript is not complete."""
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
        """`ends`: the end of each stream, written if it was left out before."""
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
                self._file = open_to_append(self._path, 0o600, emptied=True)
            while data and self._file is not None:
                data = data[os.write(self._file, data) :]
        except OSError as error:  # such as a full disk: the attempt goes on
            self.problem = f"the transcript is not complete: {error.strerror}"
            self._let_go()

    def _let_go(self) -> None:
        self._is_over = True
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


_LONGEST_LINE = 500
_MOST_LINES = 40
"""The most lines of one text: a long text is not quoted in full."""
_KEPT_BYTES = 8 * 1024


class Telling:
    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._kept = Tail(_KEPT_BYTES)

    def tell(self, text: str) -> None:
        for line in text.splitlines()[:_MOST_LINES]:
            if words := one_line(line, _LONGEST_LINE):
                self._kept.add(f"{words}\n".encode())
                self._on_output(words)

    @property
    def text(self) -> str:
        return self._kept.text()


class Stopwatch:
    def __init__(self) -> None:
        self._began: float | None = None
        self.seconds: float | None = None
        """None: it has changed no file so far."""

    def begin(self) -> None:
        self._began = time.monotonic()

    def change(self) -> None:
        """Records that it changes a file; only the first change counts."""
        if self._began is not None and self.seconds is None:
            self.seconds = time.monotonic() - self._began
