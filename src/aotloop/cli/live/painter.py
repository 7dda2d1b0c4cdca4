"""Keeps a picture on a terminal: drawn again when there is something new, or the terminal has another size."""

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
from aotloop.cli.live.picture import Picture

PER_SECOND = 8
MOST_SHARE = 1 / 5
"""Of the time, for drawing."""

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
        """`ask` tells the picture what is new, and whether anything is."""
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
        second = int(time.time())
        if self._is_resized() or is_fresh or second != self._second:
            self._second = second
            # One column and one line less than there are: filling the last would move what is above.
            size = self._size
            self._live.update(draw(self._picture, size.columns - 1, size.lines - 1, time.time(), self._colour))
            self._live.refresh()
            self._ring()

    def _ring(self) -> None:
        """For whoever is there, and looks elsewhere."""
        if self._picture.bells > self._rung:
            self._console.bell()
        self._rung = self._picture.bells

    def _is_resized(self) -> bool:
        """The terminal has broken or joined our lines in its own way. Nobody knows where they are: all is cleared."""
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
            # What others print meanwhile appears above; but only what would appear on a terminal at all.
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
