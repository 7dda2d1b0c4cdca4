"""The announcer reports events of a phase loop to observers and the journal. While a graph runs, that run has both."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aotloop.core.phases.model import PhaseLoop
from aotloop.execution.journals.journal import Journal
from aotloop.execution.observer import Observer
from aotloop.execution.run_events import RunEvent


class Announcer:
    def __init__(self, observers: Callable[[], Observer], journal: Journal) -> None:
        """`observers` makes a new one each time: a closed view is not drawn again."""
        self._observers = observers
        self._journal = journal
        self._observer: Observer | None = None
        self._loop: PhaseLoop | None = None
        self._held: deque[RunEvent] = deque()
        """Events that came while a graph had the terminal."""

    def open(self, loop: PhaseLoop) -> None:
        self._loop = loop
        self._observer = self._observers()
        self._observer.open(loop)
        while self._held:
            self.news(self._held.popleft())

    def close(self) -> None:
        if self._observer is not None:
            self._observer.close()
            self._observer = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Gives terminal and journal to the run of a graph, and takes them back afterwards."""
        self.close()
        self._journal.close()
        try:
            yield
        finally:
            self._journal.open()
            if self._loop is not None:
                self.open(self._loop)

    def loop_changed(self, loop: PhaseLoop) -> None:
        self._loop = loop
        if self._observer is not None:
            self._observer.loop_changed(loop)

    def news(self, event: RunEvent) -> None:
        if self._observer is None:
            self._held.append(event)
        else:
            self._journal.note(event)
            self._observer.news(event)

    def output(self, attempt: int, line: str) -> None:
        if self._observer is not None:
            self._observer.output(attempt, line)
