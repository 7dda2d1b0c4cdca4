"""Who talks with a process while it runs: hears all of it, may write to it, and may have it ended.

Nothing here waits: what the process does not read yet is kept, and written when it does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from typing import Protocol


class Partner(Protocol):
    """All of it is called in the thread of the event loop."""

    def begin(self, reins: Reins) -> None:
        """The process has been started."""
        ...

    def hear(self, stream: str, chunk: bytes) -> None:
        """Of `stdout` or `stderr`, as it came; the last of it after the process has ended."""
        ...


class Reins:
    """What a partner can do with its process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = process.stdin
        self._unwritten = bytearray()
        self._timers: list[asyncio.TimerHandle] = []
        self._is_last = False
        self.is_stopped = False
        self.on_stop: Callable[[], object] = lambda: None
        if self._pipe is not None:
            os.set_blocking(self._pipe.fileno(), False)

    def write(self, data: bytes) -> None:
        """Lost if nobody is there to read it any more: then the process ends, and that is what counts."""
        if self._pipe is None or self._is_last:
            return
        if not self._unwritten:
            self._loop.add_writer(self._pipe, self._writable)
        self._unwritten += data

    def finish(self, within: float) -> None:
        """No more will be written; the process has so many seconds to end by itself."""
        self._is_last = True
        if not self._unwritten:
            self._close()
        self.stop_in(within)

    def stop_in(self, seconds: float) -> asyncio.TimerHandle:
        """It is ended then, unless the timer is cancelled before."""
        self._timers.append(self._loop.call_later(seconds, self._stop))
        return self._timers[-1]

    def let_go(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._close()

    def _stop(self) -> None:
        self.is_stopped = True
        self.on_stop()

    def _writable(self) -> None:
        if self._pipe is None:
            return
        try:
            written = os.write(self._pipe.fileno(), self._unwritten)
        except BlockingIOError:
            return
        except OSError:
            self._close()
            return
        del self._unwritten[:written]
        if not self._unwritten:
            self._loop.remove_writer(self._pipe)
            if self._is_last:
                self._close()

    def _close(self) -> None:
        if self._pipe is not None:
            self._loop.remove_writer(self._pipe)
            self._pipe.close()
            self._pipe = None
