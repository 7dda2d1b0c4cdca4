"""Whoever watches a run: a terminal, a log, nobody. It is told in the thread of the event loop, and must not block."""

from __future__ import annotations

from typing import Protocol

from aotloop.core.model import Loop
from aotloop.runner.news import News


class Spectator(Protocol):
    def open(self, loop: Loop) -> None: ...

    def loop_changed(self, loop: Loop) -> None:
        """The loop as it is from now on; nobody changes this value any more."""

    def news(self, one: News) -> None: ...

    def output(self, attempt: int, line: str) -> None: ...

    def close(self) -> None: ...
