"""A run on a terminal, as a picture that is drawn again and again in one place, and stays there in the end.

All drawing is done in a thread of its own, which alone touches the picture and the terminal. The thread of the run only
leaves things to be found there, so a terminal that takes nothing for a while keeps nobody waiting.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from typing import TextIO

from aotloop.cli.foreign import visible
from aotloop.cli.live.outlet import steady
from aotloop.cli.live.painter import Painter
from aotloop.cli.live.picture import Picture
from aotloop.core.model import Loop
from aotloop.runner.news import AttemptEnded, News

PATIENCE = 2.0
"""Seconds in which the terminal has to take the last picture."""


class LiveScreen:
    def __init__(self, stream: TextIO, *, colour: bool = True) -> None:
        self._stream = stream
        self._colour = colour
        self._inbox = _Inbox()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.fault: Exception | None = None
        """What keeps us from drawing."""

    def open(self, loop: Loop) -> None:
        if self._thread is None:
            with suppress(OSError, ValueError):  # what was said before comes first
                self._stream.flush()
            self._thread = threading.Thread(target=self._show, args=(loop,), name="aot-screen", daemon=True)
            self._thread.start()

    def loop_changed(self, loop: Loop) -> None:
        self._inbox.put_loop(loop)

    def news(self, one: News) -> None:
        if self.fault is None:  # else nobody would ever take it
            self._inbox.put_news(one)

    def output(self, attempt: int, line: str) -> None:
        self._inbox.put_line(attempt, line)

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            try:
                self._thread.join(PATIENCE)
            except KeyboardInterrupt:  # from somebody in a hurry, who wants the terminal back all the same
                self._thread.join(PATIENCE)
                raise

    def _show(self, loop: Loop) -> None:
        try:
            Painter(self._stream, Picture(loop), colour=self._colour).go_on(self._inbox.tell, self._closing)
        except OSError as fault:  # the terminal is gone; there is nobody to tell
            self.fault = fault
        except Exception as fault:  # noqa: BLE001 - a picture that fails is no reason for a run to fail
            self.fault = fault
            told = visible(f"{type(fault).__name__}: {fault}")
            with suppress(OSError):
                steady(self._stream).write(f"the picture of the run broke off ({told}); `aot log -f` shows the news\n")


class _Inbox:
    """Filled by one thread, emptied by another, without a lock: each step of either is one that cannot be divided."""

    def __init__(self) -> None:
        self._loops: deque[Loop] = deque(maxlen=1)
        self._news: deque[News] = deque()
        self._lines: dict[int, str] = {}
        self._is_fresh = True

    def put_loop(self, loop: Loop) -> None:
        self._loops.append(loop)
        self._is_fresh = True

    def put_news(self, one: News) -> None:
        self._news.append(one)
        if isinstance(one, AttemptEnded):
            self._lines.pop(one.attempt, None)
        self._is_fresh = True

    def put_line(self, attempt: int, line: str) -> None:
        """The last one counts, however many there are in between."""
        if not line.isspace() and line:
            self._lines[attempt] = line
            self._is_fresh = True

    def tell(self, picture: Picture) -> bool:
        """Whether there was anything."""
        is_fresh, self._is_fresh = self._is_fresh, False
        while self._loops:
            picture.set_loop(self._loops.popleft())
        while self._news:
            picture.take(self._news.popleft())
        for attempt, line in self._lines.copy().items():
            picture.set_line(attempt, line)
        return is_fresh
