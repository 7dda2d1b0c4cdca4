"""A run as its files show it, to whoever has not started it: the state file, the news, and what the attempts print."""

from __future__ import annotations

import time
from collections.abc import Iterator

from aotloop.cli.live.journal import EventsFile, news_of
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.runner.news import AttemptBegan, AttemptEnded, News, RunBegan, RunEnded
from aotloop.runner.spectator import Spectator
from aotloop.statefile.lease import Holder, holder_of
from aotloop.statefile.store import Store

POLL_SECONDS = 0.15


class Scene:
    def __init__(self, store: Store, holder: Holder | None) -> None:
        """`holder`: of the run; None if nobody runs the loop, and the last run is what there is to see."""
        self._store = store
        self._signature = _signature(store)
        self._events = EventsFile(store.path)
        self._events.start_at_last_run(holder.pid if holder is not None else None)
        self._folders: dict[int, str] = {}
        self._signs: dict[int, tuple[int, int] | None] = {}
        self._has_ended = False

    def polls(self) -> Iterator[bool]:
        """As long as somebody runs the loop, and once more; then it yields False."""
        while holder_of(self._store.path) is not None:
            yield True
            time.sleep(POLL_SECONDS)
        yield False

    def lines(self) -> list[bytes]:
        return self._events.fresh()

    def news(self) -> list[News]:
        known = [one for one in map(news_of, self.lines()) if one is not None]
        for one in known:
            self._note(one)
        return known

    def show(self, spectator: Spectator) -> None:
        """Whatever is new."""
        for one in self.news():
            spectator.news(one)
        loop = self._changed_loop()
        if loop is not None:
            spectator.loop_changed(loop)
        for attempt, line in self.outputs():
            spectator.output(attempt, line)

    def missing_end(self, now: str) -> RunEnded | None:
        """What is to be told once nobody runs the loop any more: of a process that was killed, no news come."""
        if self._has_ended:
            return None
        reason = "the process that ran it is gone; `aot run` goes on from here"
        return RunEnded(at=now, status="stopped", reason=reason)

    def _note(self, one: News) -> None:
        if isinstance(one, AttemptBegan):
            self._folders[one.attempt] = one.folder
        elif isinstance(one, AttemptEnded):
            self._folders.pop(one.attempt, None)
        elif isinstance(one, RunBegan | RunEnded):
            self._folders.clear()
            self._has_ended = isinstance(one, RunEnded)

    def _changed_loop(self) -> Loop | None:
        """None also while the file cannot be read: somebody may be editing it."""
        signature = _signature(self._store)
        if signature == self._signature:
            return None
        self._signature = signature
        try:
            return self._store.load()
        except (AotError, OSError):
            return None

    def outputs(self) -> Iterator[tuple[int, str]]:
        """Attempts that printed something since the last time, and the last line of it."""
        for attempt, folder in self._folders.items():
            sign = self._events.sign_of_output(folder)
            if sign is None or sign == self._signs.get(attempt):
                continue
            self._signs[attempt] = sign
            yield from ((attempt, line) for line in self._events.output_of(folder, 1))


def _signature(store: Store) -> tuple[int, ...] | None:
    try:
        return store.signature_now()
    except OSError:
        return None
