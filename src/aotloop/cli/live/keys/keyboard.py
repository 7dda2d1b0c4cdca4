"""Keys of a person who watches: read without waiting, from a terminal in the foreground; elsewhere there are none.

Ctrl-C stays a signal. The terminal gets its settings back when the view closes, and also if the process exits without.
"""

from __future__ import annotations

import atexit
import os
import select
import sys
import termios
from typing import Any, TextIO

_NAMES = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b": "escape",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
}
_MOST = 1024
_LOCAL_FLAGS = 3


class Keyboard:
    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stdin
        self._descriptor: int | None = None
        self._before: list[Any] | None = None

    def open(self) -> bool:
        """Whether there will be keys."""
        try:
            descriptor = self._stream.fileno()
            if not os.isatty(descriptor) or os.tcgetpgrp(descriptor) != os.getpgrp():
                return False
            self._before = termios.tcgetattr(descriptor)
        except (OSError, ValueError, AttributeError, termios.error):  # no terminal, or a closed stream
            return False
        self._descriptor = descriptor
        atexit.register(self.close)
        self._listen()
        return True

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None and self._before is not None:
            atexit.unregister(self.close)
            try:
                termios.tcsetattr(descriptor, termios.TCSADRAIN, self._before)
            except (OSError, termios.error):  # the terminal is gone
                return

    def keys(self) -> list[str]:
        """Pressed since the last call: characters, or names such as `up` and `enter`."""
        if self._descriptor is None:
            return []
        try:
            if os.tcgetpgrp(self._descriptor) != os.getpgrp():  # in the background, a read would stop us
                return []
            self._listen()  # a shell that continued us has reset the terminal
            if not select.select([self._descriptor], [], [], 0)[0]:
                return []
            data = os.read(self._descriptor, _MOST)
        except (OSError, ValueError, termios.error):
            return []
        if not data:  # the terminal is gone
            self._descriptor = None
        return list(_named(data.decode("utf-8", "ignore")))

    def _listen(self) -> None:
        """Single keys, not shown. Signals such as Ctrl-C stay."""
        assert self._descriptor is not None  # noqa: S101 - only called while it is open
        attributes = termios.tcgetattr(self._descriptor)
        if attributes[_LOCAL_FLAGS] & (termios.ICANON | termios.ECHO):
            attributes[_LOCAL_FLAGS] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, attributes)


def _named(text: str) -> list[str]:
    found: list[str] = []
    sequences = sorted(_NAMES, key=len, reverse=True)
    while text:
        sequence = next((code for code in sequences if text.startswith(code)), text[0])
        text = text[len(sequence) :]
        key = _NAMES.get(sequence, sequence)
        if key.isprintable():
            found.append(key)
    return found
