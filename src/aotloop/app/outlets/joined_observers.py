"""Several observers as one: the first is the user's own. A further one that fails is left alone; the run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aotloop.execution.observer import Observer, Watched
from aotloop.execution.run_events import RunEvent


class JoinedObservers:
    def __init__(self, first: Observer, others: Sequence[Observer]) -> None:
        self._first = first
        self._others = list(others)

    def open(self, loop: Watched) -> None:
        self._first.open(loop)
        self._tell(lambda observer: observer.open(loop))

    def loop_changed(self, loop: Watched) -> None:
        self._first.loop_changed(loop)
        self._tell(lambda observer: observer.loop_changed(loop))

    def news(self, event: RunEvent) -> None:
        self._first.news(event)
        self._tell(lambda observer: observer.news(event))

    def output(self, attempt: int, line: str) -> None:
        self._first.output(attempt, line)

    def close(self) -> None:
        self._first.close()
        self._tell(lambda observer: observer.close())

    def _tell(self, say: Callable[[Observer], None]) -> None:
        for observer in tuple(self._others):
            try:
                say(observer)
            except Exception:  # noqa: BLE001 - an error of an outlet's library does not end a run
                self._others.remove(observer)
