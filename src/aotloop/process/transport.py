"""The transport between a client and its running process: the client gets all output, can write, and can end it.

Nothing here waits: data that the process does not read yet is kept, and written later.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any, Protocol

from aotloop.process.output import Lines

LONGEST_MESSAGE = 1_500_000
"""Characters. A longer line is left out, and counted."""


class Listener(Protocol):
    """All methods are called in the thread of the event loop."""

    def begin(self, transport: Transport) -> None:
        """The process was started."""
        ...

    def hear(self, stream: str, chunk: bytes) -> None:
        """A chunk of `stdout` or `stderr`. The last one comes after the process has ended."""
        ...


class Transport:
    """The standard input of a process, and the means to end it."""

    def __init__(self, stdin: IO[bytes] | None) -> None:
        """`stdin` of the process; None: it was started without a pipe."""
        self._loop = asyncio.get_running_loop()
        self._pipe = stdin
        self._unwritten = bytearray()
        self._timers: list[asyncio.TimerHandle] = []
        self._is_last = False
        self.is_stopped = False
        self.on_stop: Callable[[], object] = lambda: None
        if self._pipe is not None:
            os.set_blocking(self._pipe.fileno(), False)

    def write(self, data: bytes) -> None:
        """The data is lost if the process reads no more. Then the process ends, and its end is what counts."""
        if self._pipe is None or self._is_last:
            return
        if not self._unwritten:
            self._loop.add_writer(self._pipe, self._writable)
        self._unwritten += data

    def finish(self, within: float) -> None:
        """No more data will be written. The process has `within` seconds to end by itself."""
        self._is_last = True
        if not self._unwritten:
            self._close_pipe()
        self.stop_in(within)

    def stop_in(self, seconds: float) -> asyncio.TimerHandle:
        """Ends the process then, unless the timer is cancelled before."""
        self._timers.append(self._loop.call_later(seconds, self.stop))
        return self._timers[-1]

    def stop(self) -> None:
        """Ends the process now."""
        self.is_stopped = True
        self.on_stop()

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._close_pipe()

    def _writable(self) -> None:
        if self._pipe is None:
            return
        try:
            written = os.write(self._pipe.fileno(), self._unwritten)
        except BlockingIOError:
            return
        except OSError:
            self._close_pipe()
            return
        del self._unwritten[:written]
        if not self._unwritten:
            self._loop.remove_writer(self._pipe)
            if self._is_last:
                self._close_pipe()

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            self._loop.remove_writer(self._pipe)
            self._pipe.close()
            self._pipe = None


class JsonLines:
    """Converts bytes into JSON objects, one for each line, for all sizes of chunks; in limited memory."""

    def __init__(self) -> None:
        self._lines = Lines(LONGEST_MESSAGE, drops_long=True)

    @property
    def left_out(self) -> int:
        return self._lines.left_out

    def add(self, chunk: bytes) -> Iterator[dict[str, Any] | str]:
        """An object, or the text of a line that is not an object. Blank lines give nothing."""
        for line in self._lines.add(chunk):
            if text := line.strip():
                yield _object_or_text(text)


def _object_or_text(text: str) -> dict[str, Any] | str:
    """JavaScript clients print halves of surrogate pairs, which msgspec refuses and Python accepts."""
    if text.startswith("{"):
        with suppress(ValueError, RecursionError):
            found: dict[str, Any] = json.loads(text)
            return found
    return text
