"""Chooses the observer of a run: a picture if the terminal can draw one, else lines; it never delays the run."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from aotloop.cli.error_handler import may_colour
from aotloop.cli.live.event_lines import JsonLines, PlainLog
from aotloop.cli.live.keys.navigation import Actions
from aotloop.cli.live.outlet import steady
from aotloop.cli.live.picture.painter import Painter
from aotloop.cli.live.run_view import Picture
from aotloop.execution.observer import Observer, Watched
from aotloop.execution.run_events import AttemptEnded, RunEvent
from aotloop.text.sanitize import visible


def observer_for(
    *, as_json: bool = False, plain: bool = False, stream: TextIO | None = None, actions: Actions | None = None
) -> Observer:
    """`plain`: lines, even on a terminal. `stream`: standard output by default. `actions`: what keys can do."""
    stream = stream if stream is not None else sys.stdout
    if as_json:
        return JsonLines(stream)
    if plain or not can_be_redrawn(stream):
        return PlainLog(stream)

    return LiveScreen(stream, colour=may_colour(), actions=actions)


def can_be_redrawn(stream: TextIO) -> bool:
    """True for a terminal that can erase lines and show the characters that we draw with."""
    is_able = stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
    return is_able and (stream.encoding or "").lower().replace("-", "") == "utf8"


class Announced:
    """Says some lines first, when it is certain that the run begins: a refusal does not need them."""

    def __init__(self, observer: Observer, announce: Callable[[], None]) -> None:
        self._announce = announce
        self._open = observer.open
        self.loop_changed = observer.loop_changed
        self.news = observer.news
        self.output = observer.output
        self.close = observer.close

    def open(self, loop: Watched) -> None:
        self._announce()
        self._open(loop)


PATIENCE = 2.0
"""Seconds in which the terminal has to accept the last picture."""


class LiveScreen:
    def __init__(self, stream: TextIO, *, colour: bool = True, actions: Actions | None = None) -> None:
        self._stream = stream
        self._actions = actions
        self._colour = colour
        self._inbox = _Inbox()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.fault: Exception | None = None
        """The error that prevents drawing."""

    def open(self, loop: Watched) -> None:
        if self._thread is None:
            with suppress(OSError, ValueError):  # earlier output comes first
                self._stream.flush()
            self._thread = threading.Thread(target=self._show, args=(loop,), name="aot-screen", daemon=True)
            self._thread.start()

    def loop_changed(self, loop: Watched) -> None:
        self._inbox.put_loop(loop)

    def news(self, event: RunEvent) -> None:
        if self.fault is None:  # else no thread would read it
            self._inbox.put_news(event)

    def output(self, attempt: int, line: str) -> None:
        self._inbox.put_line(attempt, line)

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            try:
                self._thread.join(PATIENCE)
            except KeyboardInterrupt:  # restore the terminal also after a second Ctrl-C
                self._thread.join(PATIENCE)
                raise

    def _show(self, loop: Watched) -> None:
        try:
            painter = Painter(self._stream, Picture(loop), colour=self._colour, actions=self._actions)
            painter.go_on(self._inbox.tell, self._closing)
        except OSError as fault:  # the terminal is gone, so no message can be shown
            self.fault = fault
        except Exception as fault:  # noqa: BLE001 - a failing picture must not end the run
            self.fault = fault
            problem = visible(f"{type(fault).__name__}: {fault}")
            with suppress(OSError):
                steady(self._stream).write(
                    f"the picture of the run failed ({problem}); `aot log -f` shows the events\n"
                )


class _Inbox:
    """One thread fills it and another empties it, without a lock, because each step of both is atomic."""

    def __init__(self) -> None:
        self._loops: deque[Watched] = deque(maxlen=1)
        self._news: deque[RunEvent] = deque()
        self._lines: dict[int, str] = {}
        self._is_fresh = True

    def put_loop(self, loop: Watched) -> None:
        self._loops.append(loop)
        self._is_fresh = True

    def put_news(self, event: RunEvent) -> None:
        self._news.append(event)
        if isinstance(event, AttemptEnded):
            self._lines.pop(event.attempt, None)
        self._is_fresh = True

    def put_line(self, attempt: int, line: str) -> None:
        """Only the last line of an attempt is kept."""
        if not line.isspace() and line:
            self._lines[attempt] = line
            self._is_fresh = True

    def tell(self, picture: Picture) -> bool:
        """Returns whether there was anything new."""
        is_fresh, self._is_fresh = self._is_fresh, False
        while self._loops:
            picture.set_loop(self._loops.popleft())
        while self._news:
            picture.take(self._news.popleft())
        for attempt, line in self._lines.copy().items():
            picture.set_line(attempt, line)
        return is_fresh
