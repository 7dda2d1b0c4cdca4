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

from aotloop.cli.live.keys.keyboard import Keyboard
from aotloop.cli.live.keys.navigation import Actions, Navigation
from aotloop.cli.live.outlet import steady
from aotloop.cli.live.picture.frame import draw
from aotloop.cli.live.picture.styled_lines import Lines
from aotloop.cli.live.run_view import Picture
from aotloop.clock import unix_time
from aotloop.text.sanitize import visible

PER_SECOND = 8
MOST_SHARE = 1 / 5
"""The share of time for drawing."""

USUAL_SIZE = os.terminal_size((80, 24))


_KEEP_TITLE, _PUT_TITLE_BACK = "\x1b[22;0t", "\x1b[23;0t"
"""The terminal keeps the title that it had, and gets it back. Terminals that cannot do this ignore it."""


def title_of(picture: Picture) -> str:
    """Short: a tab has little room. A person who is needed comes first."""
    status = picture.ended.status if picture.ended is not None else picture.overview.status
    is_waiting = picture.blocked or picture.half_spent or _is_blocked(picture)
    needed = "(!) " if is_waiting else ""
    return f"{needed}aot {picture.overview.resolved}/{picture.overview.required} {visible(status)}"


def _is_blocked(picture: Picture) -> bool:
    return picture.ended is not None and (picture.ended.reason or "").startswith("blocked:")


class Painter:
    def __init__(self, stream: TextIO, picture: Picture, *, colour: bool, actions: Actions | None = None) -> None:
        """`actions`: for keys; None: there are none."""
        self._keyboard = Keyboard()
        self._navigation = Navigation(picture, actions) if actions is not None else None
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
        self._title = ""

    def go_on(self, ask: Callable[[Picture], bool], closing: threading.Event) -> None:
        """`ask` gives the picture its changes, and returns whether there were any."""
        self._live = self._started()
        self._console.file.write(_KEEP_TITLE)
        if self._navigation is not None and not self._keyboard.open():
            self._navigation = None
        try:
            while not closing.is_set():
                began = time.monotonic()
                is_fresh = ask(self._picture)
                self._draw(is_fresh=self._typed() or is_fresh)
                closing.wait(max(1 / PER_SECOND, (time.monotonic() - began) / MOST_SHARE))
            ask(self._picture)
            self._navigation = None  # the last picture stays, without keys
            self._draw(is_fresh=True)
        finally:
            self._keyboard.close()
            self._console.file.write(_PUT_TITLE_BACK)
            self._live.stop()

    def _typed(self) -> bool:
        keys = self._keyboard.keys() if self._navigation is not None else []
        for key in keys:
            if self._navigation is not None:
                self._navigation.press(key)
        return bool(keys)

    def _frame(self, width: int, height: int) -> Lines:
        if self._navigation is None:
            return draw(self._picture, width, height, unix_time(), self._colour)
        if (page := self._navigation.page(width, height)) is not None:
            return Lines(page, self._colour)
        lines = draw(self._picture, width, height - 1, unix_time(), self._colour).lines
        return Lines([*lines, self._navigation.foot(width)], self._colour)

    def _draw(self, *, is_fresh: bool) -> None:
        second = int(unix_time())
        if self._is_resized() or is_fresh or second != self._second:
            self._second = second
            # One column and one line less than available: text in the last one would scroll the picture.
            size = self._size
            self._live.update(self._frame(size.columns - 1, size.lines - 1))
            self._live.refresh()
            self._ring()
            self._entitle()

    def _entitle(self) -> None:
        """The title of the terminal, for a person who works in another window."""
        title = title_of(self._picture)
        if title != self._title:
            self._title = title
            self._console.file.write(f"\x1b]0;{title}\x1b\\")

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
