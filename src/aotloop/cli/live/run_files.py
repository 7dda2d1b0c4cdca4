"""Follows a run of another process through its files: the state file, the events, and the output of attempts."""

from __future__ import annotations

import time
from collections.abc import Iterator

from aotloop.app.history.attempts import place_in_words
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.journals.event_file import EventsFile, news_of
from aotloop.execution.observer import Observer
from aotloop.execution.run_events import AttemptBegan, AttemptEnded, RunBegan, RunEnded, RunEvent
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.store import Store

POLL_SECONDS = 0.15

_SHARE = 0.02
"""The part of a core that reading the state file may take: a large file is read less often."""


class Scene:
    def __init__(self, store: Store, holder: Holder | None) -> None:
        """`holder`: the process that runs the loop; None: no process runs it, and the last run is shown."""
        self._store = store
        self._signature = _signature(store)
        self._next_look = 0.0
        self._events = EventsFile(store.path)
        self._events.start_at_last_run(holder.pid if holder is not None else None)
        self._folders: dict[int, str] = {}
        self._signs: dict[int, tuple[int, int] | None] = {}
        self._has_ended = False

    def polls(self) -> Iterator[bool]:
        """Yields True while a process runs the loop, and once more after that; then False."""
        while holder_of(self._store.path) is not None:
            yield True
            time.sleep(POLL_SECONDS)
        yield False

    def lines(self) -> list[bytes]:
        return self._events.fresh()

    def news(self) -> list[RunEvent]:
        known = [event for event in map(news_of, self.lines()) if event is not None]
        for event in known:
            self._note(event)
        return known

    def show(self, observer: Observer, *, is_last: bool = False) -> None:
        """Passes everything new to the observer."""
        for event in self.news():
            observer.news(event)
        loop = self._changed_loop() if is_last or time.monotonic() >= self._next_look else None
        if loop is not None:
            observer.loop_changed(loop)
        for attempt, line in self.outputs():
            observer.output(attempt, line)

    def missing_end(self, now: str) -> RunEnded | None:
        """The end of a run that left no such event, because its process was killed."""
        if self._has_ended:
            return None
        reason = "the process that ran it has ended; `aot run` continues the loop"
        return RunEnded(at=now, status="stopped", reason=reason)

    def _note(self, event: RunEvent) -> None:
        if isinstance(event, AttemptBegan):
            self._folders[event.attempt] = event.folder
        elif isinstance(event, AttemptEnded):
            self._folders.pop(event.attempt, None)
        elif isinstance(event, RunBegan | RunEnded):
            self._folders.clear()
            self._has_ended = isinstance(event, RunEnded)

    def _changed_loop(self) -> Loop | None:
        """None also while the file cannot be read: a person may be editing it."""
        signature = _signature(self._store)
        if signature == self._signature:
            return None
        self._signature = signature
        began = time.thread_time()
        try:
            return self._store.load()
        except (AotError, OSError):
            return None
        finally:
            self._next_look = time.monotonic() + (time.thread_time() - began) / _SHARE

    def outputs(self) -> Iterator[tuple[int, str]]:
        """Attempts with new output since the last call, and the last line of it."""
        for attempt, folder in self._folders.items():
            sign = self._events.sign_of_output(folder)
            if sign is None or sign == self._signs.get(attempt):
                continue
            self._signs[attempt] = sign
            place = place_in_words(self._events.folder_of(folder))
            lines = self._events.output_of(folder, 1)
            yield from ((attempt, f"{place}: {line}" if place and line != place else line) for line in lines)


def _signature(store: Store) -> tuple[int, ...] | None:
    try:
        return store.signature_now()
    except OSError:
        return None
