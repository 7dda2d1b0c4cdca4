"""Events of a project from a known place on: a reader that comes back with its mark misses nothing.

A mark names a file and an offset in it. Where the file was replaced meanwhile, the reader begins again, and is told so.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app.history.event_words import words
from aotloop.execution.journals.event_file import news_of
from aotloop.execution.journals.file_tail import CHUNK, opened
from aotloop.execution.journals.journal import EVENTS, FOLDER
from aotloop.execution.run_events import RunEvent
from aotloop.statefile.locate import project_root

MOST_BYTES = 8 << 20
"""A new reader gets the events in this much of the end of the file."""
MOST_AT_ONCE = 500
"""Events in one batch."""
_LEFT_OUT = ("folder", "failing", "holding", "waiting")
"""Fields that are large, or that a page does not show with an event."""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    events: list[dict[str, Any]]
    mark: str
    is_new_start: bool = False
    """All events that the reader has are outdated: another file is read, from its beginning or near its end."""
    is_cut: bool = False
    """Earlier events were left out."""
    is_more: bool = False
    """There are further events now."""


def read_events(state_file: str, mark: str | None, most: int = MOST_AT_ONCE) -> Batch:
    path = Path(project_root(state_file), FOLDER, EVENTS)
    with opened(path) as descriptor:
        if descriptor is None:
            return Batch(events=[], mark="", is_new_start=bool(mark))
        status = os.fstat(descriptor)
        name = f"{status.st_dev:x}-{status.st_ino:x}"
        offset = _offset_in(mark, name)
        is_new = offset is None or offset > status.st_size
        begin = max(status.st_size - MOST_BYTES, 0) if is_new or offset is None else offset
        lines, end, is_more = _lines(descriptor, begin, most, skip_first=is_new and begin > 0)
    events = [_as_data(event) for line in lines if (event := news_of(line)) is not None]
    return Batch(
        events=events,
        mark=f"{name}:{end}",
        is_new_start=is_new,
        is_cut=is_new and begin > 0,
        is_more=is_more,
    )


def last_event(state_file: str, most: int = 64 << 10) -> dict[str, Any] | None:
    path = Path(project_root(state_file), FOLDER, EVENTS)
    with opened(path) as descriptor:
        if descriptor is None:
            return None
        begin = max(os.fstat(descriptor).st_size - most, 0)
        with suppress(OSError):
            for line in reversed(os.pread(descriptor, most, begin).split(b"\n")):
                if line and (event := news_of(line)) is not None:
                    return _as_data(event)
    return None


def _offset_in(mark: str | None, name: str) -> int | None:
    """None: the mark is of another file, or no mark of ours."""
    file, _, digits = (mark or "").rpartition(":")
    return int(digits) if file == name and digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def _lines(descriptor: int, begin: int, most: int, *, skip_first: bool) -> tuple[list[bytes], int, bool]:
    """Complete lines, the offset behind them, and whether more of them are there."""
    data, end, lines = b"", begin, list[bytes]()
    while len(lines) <= most:
        try:
            chunk = os.pread(descriptor, CHUNK, begin + len(data))
        except OSError:
            break
        if not chunk:
            break
        data += chunk
        lines = data.split(b"\n")[:-1]
    taken = lines[: most + skip_first]
    end = begin + sum(len(line) + 1 for line in taken)
    return taken[1:] if skip_first else taken, end, len(lines) > len(taken)


def _as_data(event: RunEvent) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(event)
    for name in _LEFT_OUT:
        data.pop(name, None)
    return {**data, "text": words(event) or ""}
