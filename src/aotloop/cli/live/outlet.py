"""Only this module writes to slow readers: a caller never waits for them.

Otherwise a pipe without a reader, or a terminal halted with Ctrl-S, would halt the run.
"""

from __future__ import annotations

import io
import os
import queue
import select
import threading
import time
from typing import Any, TextIO

_MOMENT = 0.03
"""Seconds."""

PATIENCE = 3.0
"""Seconds to wait at the end while the reader takes nothing. The journal has everything."""


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # another process that shares the terminal changed its mode
            select.select([], [descriptor], [])


def steady(stream: TextIO) -> TextIO:
    """The same terminal without a buffer: all text is written at once, and an exit finds no lock taken."""
    return io.TextIOWrapper(
        _Descriptor(stream.fileno()), encoding=stream.encoding, errors="backslashreplace", write_through=True
    )


class _Descriptor(io.BufferedIOBase):
    def __init__(self, number: int) -> None:
        self._number = number
        self.name = number

    def write(self, data: Any, /) -> int:
        write_all(self._number, bytes(data))
        return len(data)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)


class Outlet:
    """Lines on their way to a stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._descriptor = _own(stream)
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._written = 0
        self._is_closed = False
        self.problem: OSError | None = None
        """The reason why no more is written; the run continues."""
        self._thread = threading.Thread(target=self._carry, name="aot-outlet", daemon=True)
        self._thread.start()

    def put(self, text: bytes) -> None:
        if self.problem is None:
            self._waiting.put(text)

    def close(self) -> None:
        """Waits for a slow reader, but not for a reader that takes nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._waiting.put(None)
        written = -1
        while self._thread.is_alive() and written != self._written:
            written = self._written
            self._thread.join(PATIENCE)

    def _carry(self) -> None:
        """Collects lines for a moment and writes them together: a wake-up for each line would slow down the run."""
        is_open = True
        while is_open:
            texts = [self._waiting.get()]
            if texts[0] is not None and not self._is_closed:
                time.sleep(_MOMENT)
            while not self._waiting.empty():
                texts.append(self._waiting.get())
            is_open = None not in texts
            if self.problem is None:
                self._write(b"".join(text for text in texts if text is not None))
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _write(self, text: bytes) -> None:
        try:
            if self._descriptor is not None:
                write_all(self._descriptor, text)
            else:
                self._stream.buffer.write(text)
        except (OSError, ValueError) as error:  # the reader is gone, the disk is full, the stream is closed
            self.problem = error if isinstance(error, OSError) else OSError(str(error))
        self._written += 1


def _own(stream: TextIO) -> int | None:
    """Our own descriptor: another thread may close the stream's one, and its number may be reused. None: in memory."""
    try:
        return os.dup(stream.fileno())
    except (OSError, ValueError):  # UnsupportedOperation is both
        return None
