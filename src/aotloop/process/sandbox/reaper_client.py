"""Our end of a reaper: by it we hear how a command ended and whether others are left, and have all of them killed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from io import FileIO

_LONGEST_WORD = 64


class Reaper:
    """Our end of one reaper: it tells how its command ended, and ends everything that the command started."""

    is_namespace = False

    def __init__(self, pid: int, control: FileIO, told: FileIO, heard: bytes, folder: str | None = None) -> None:
        """`folder`: it ends with the command."""
        self.pid = pid
        self._folder = folder
        self._control = control
        self._told = told
        self._heard = heard
        self._is_silent = False
        self.status: int | None = None
        """An exit code, or a signal as a negative number; None: the command is not known to have ended."""
        self._is_empty = False

    def fileno(self) -> int:
        """Becomes readable when the command ends."""
        return self._told.fileno()

    def poll(self) -> int | None:
        self._listen()
        return self.status

    def is_gone(self) -> bool:
        """Whether the reaper itself has ended."""
        self._listen()
        return self._is_silent

    def is_empty(self) -> bool:
        """Whether it is known that no process of the command is left."""
        return self._is_empty

    def _listen(self) -> None:
        while not (self._is_silent or self._told.closed):
            words = self._told.read(_LONGEST_WORD)
            if words is None:
                break
            self._heard += words
            self._is_silent = not words
        if self.status is None and b"\n" in self._heard:
            status, left = self._heard.split()
            self.status, self._is_empty = int(status), left == b"0"
        elif self.status is None and self._is_silent:
            self.status = -signal.SIGKILL  # a killed reaper tells nothing, and leaves its processes to be found
        elif self._is_silent and self._heard:
            self._is_empty = True

    def wait(self, seconds: float | None) -> int:
        """The status. Raises TimeoutError."""
        if not self._hears(lambda: self.poll() is not None, seconds) or self.status is None:
            raise TimeoutError
        return self.status

    def wait_for_end(self, seconds: float) -> None:
        """Until no process is left, or this time is over."""
        self._hears(lambda: self.is_gone() or self._is_empty, seconds)

    def _hears(self, is_so: Callable[[], bool], seconds: float | None) -> bool:
        deadline = time.monotonic() + seconds if seconds is not None else None
        while not is_so():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            select.select([self._told], [], [], left)
        return True

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if not self.is_gone():
                os.kill(self.pid, number)

    def end(self) -> None:
        """It kills all its processes, and then ends."""
        self._control.close()

    def close(self) -> None:
        self.end()
        self._told.close()
        if self._folder is not None:
            with contextlib.suppress(OSError):
                for name in os.listdir(self._folder):  # noqa: PTH208 - it has no folders
                    os.unlink(f"{self._folder}/{name}")  # noqa: PTH108
                os.rmdir(self._folder)  # noqa: PTH106
