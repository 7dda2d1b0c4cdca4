"""What whoever watches sees of a phase loop: its picture, its news, and what its agent prints; and, aside, a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aotloop.core.phases.model import PhaseLoop
from aotloop.runner.journal import Journal
from aotloop.runner.news import News
from aotloop.runner.spectator import Spectator
from aotloop.shipping.picture import picture_of


class Show:
    def __init__(self, spectators: Callable[[], Spectator], journal: Journal) -> None:
        """`spectators`: makes one each time, as a picture that has been closed is not drawn again."""
        self._spectators = spectators
        self._journal = journal
        self._spectator: Spectator | None = None
        self._loop: PhaseLoop | None = None
        self._held: deque[News] = deque()
        """What there was to tell while another one had the terminal."""

    def open(self, loop: PhaseLoop) -> None:
        self._loop = loop
        self._spectator = self._spectators()
        self._spectator.open(picture_of(loop))
        while self._held:
            self.news(self._held.popleft())

    def close(self) -> None:
        if self._spectator is not None:
            self._spectator.close()
            self._spectator = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Meanwhile another one has the terminal, and the journal."""
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
        if self._spectator is not None:
            self._spectator.loop_changed(picture_of(loop))

    def news(self, one: News) -> None:
        if self._spectator is None:
            self._held.append(one)
        else:
            self._journal.note(one)
            self._spectator.news(one)

    def output(self, attempt: int, line: str) -> None:
        if self._spectator is not None:
            self._spectator.output(attempt, line)
