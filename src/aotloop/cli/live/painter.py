"""Keeps a picture on a terminal: it draws again after a change, or when the size of the terminal changes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.live import Live

from aotloop.cli.live.frame import draw
from aotloop.cli.live.outlet import steady
from aotloop.cli.live.run_view import Picture
from aotloop.clock import unix_time

PER_SECOND = 8
MOST_SHARE = 1 / 5
"""The share of time for drawing."""

USUAL_SIZE = os.terminal_size((80, 24))


class Painter:
    def __init__(self, stream: TextIO, picture: Picture, *, colour: bool) -> None:
        self._stream = stream
        self._picture = picture
        self._colour = colour
        self._console = Console(
            file=steady(stream),
            force_terminal=True,
            force_interactive=True,
            no_color=not colour,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )
        self._size = size_of(stream)
        self._second = 0
        self._rung = 0

    def go_on(self, ask: Callable[[Picture], bool], closing: threading.Event) -> None:
        """`ask` gives the picture its changes, and returns whether there were any."""
        self._live = self._started()
        try:
            while not closing.is_set():
                began = time.monotonic()
                self._draw(is_fresh=ask(self._picture))
                closing.wait(max(1 / PER_SECOND, (time.monotonic() - began) / MOST_SHARE))
            ask(self._picture)
            self._draw(is_fresh=True)
        finally:
            self._live.stop()

    def _draw(self, *, is_fresh: bool) -> None:
        second = int(unix_time())
        if self._is_resized() or is_fresh or second != self._second:
            self._second = second
            # One column and one line less than available: text in the last one would scroll the picture.
            size = self._size
            self._live.update(draw(self._picture, size.columns - 1, size.lines - 1, unix_time(), self._colour))
            self._live.refresh()
            self._ring()

    def _ring(self) -> None:
        """Rings the bell for a person who looks elsewhere."""
        if self._picture.bells > self._rung:
            self._console.bell()
        self._rung = self._picture.bells

    def _is_resized(self) -> bool:
        """Clears the terminal after a change of its size, because it has wrapped our lines in an unknown way."""
        size = size_of(self._stream)
        if size == self._size:
            return False
        self._size = size
        self._live.update("")
        self._live.stop()
        self._console.clear()
        self._live = self._started()
        return True

    def _started(self) -> Live:
        self._console.size = self._size
        live = Live(
            console=self._console,
            auto_refresh=False,
            vertical_overflow="crop",
            # Other output appears above the picture, if it goes to the terminal at all.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=sys.stderr.isatty(),
        )
        live.start()
        return live


def size_of(stream: TextIO) -> os.terminal_size:
    try:
        found = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return USUAL_SIZE
    return found if found.columns and found.lines else USUAL_SIZE
