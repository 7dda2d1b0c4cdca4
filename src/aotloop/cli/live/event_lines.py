"""A run as lines, one for each event: words for a person's log, JSON for a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

import click
import msgspec

from aotloop.app.history.event_words import words
from aotloop.cli.live.outlet import Outlet
from aotloop.cli.ui.output import tell
from aotloop.execution.journals.event_file import EventsFile, is_passed_on, news_of
from aotloop.execution.observer import Watched
from aotloop.execution.run_events import HalfSpent, RunEvent
from aotloop.text.sanitize import prose


def as_words(event: RunEvent) -> str | None:
    sentence = words(event)
    return f"{prose(event.at[:40])}  {sentence}" if sentence is not None else None


def as_json(event: RunEvent) -> bytes:
    try:
        return msgspec.json.encode(event)
    except UnicodeEncodeError:  # an agent may print invalid UTF-8
        return json.dumps(msgspec.to_builtins(event), ensure_ascii=False).encode("utf-8", "replace")


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._outlet: Outlet | None = None

    def open(self, loop: Watched) -> None:  # noqa: ARG002
        with suppress(OSError, ValueError):  # earlier output comes first
            self._stream.flush()
        self._outlet = self._outlet or Outlet(self._stream)

    def loop_changed(self, loop: Watched) -> None:
        pass

    def output(self, attempt: int, line: str) -> None:
        pass

    def close(self) -> None:
        if self._outlet is not None:
            self._outlet.close()

    def _put(self, line: bytes) -> None:
        if self._outlet is not None:
            self._outlet.put(line + b"\n")


class PlainLog(_Lines):
    def news(self, event: RunEvent) -> None:
        sentence = as_words(event)
        if sentence is not None:
            bell = "\a" if isinstance(event, HalfSpent) and self._stream.isatty() else ""
            self._put(f"{sentence}{bell}".encode(self._stream.encoding or "utf-8", "backslashreplace"))


class JsonLines(_Lines):
    def news(self, event: RunEvent) -> None:
        self._put(as_json(event))


FIRST_NEWS = 20
SEARCHED_BYTES = 8 << 20
"""The number of bytes from the end of the events in which the first lines are searched."""
POLL_SECONDS = 0.15


def follow_news(state_file: str, atom: str | None, *, as_json: bool, on_nothing: Callable[[], object]) -> None:
    """Follows until it is interrupted. `on_nothing` is called if there are no events yet."""
    events = EventsFile(state_file)
    events.start_near_end(SEARCHED_BYTES)
    lines = _wanted(events.fresh(), atom)
    if not lines:
        on_nothing()
        tell("There are no events yet; new events will appear here.", err=True)
    _put(lines[-FIRST_NEWS:], as_json=as_json)
    while True:
        time.sleep(POLL_SECONDS)
        _put(_wanted(events.fresh(), atom), as_json=as_json)


def _wanted(lines: list[bytes], atom: str | None) -> list[bytes]:
    if atom is None:
        return [line for line in lines if is_passed_on(line)]
    return [line for line in lines if (event := news_of(line)) is not None and is_about(event, atom)]


def _put(lines: list[bytes], *, as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.writelines(line + b"\n" for line in lines)
        sys.stdout.buffer.flush()
        return
    for line in lines:
        event = news_of(line)
        sentence = as_words(event) if event is not None else None
        if sentence is not None:
            click.echo(sentence)


_ONE = ("atom", "left", "selected")
_SEVERAL = ("atoms", "parents", "choices", "again")


def is_about(event: RunEvent, atom: str) -> bool:
    return any(getattr(event, field, None) == atom for field in _ONE) or any(
        atom in getattr(event, field, ()) for field in _SEVERAL
    )
