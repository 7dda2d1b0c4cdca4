"""Observers of a run: a terminal, a log, or none. The event loop calls an observer, so it must not block."""

from __future__ import annotations

from typing import Protocol

from aotloop.core.model import Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.execution.run_events import RunEvent

Watched = Loop | PhaseLoop
"""The subject of a driver: the atoms of an objective, or the phases of a feature."""


class Observer(Protocol):
    def open(self, loop: Watched) -> None: ...

    def loop_changed(self, loop: Watched) -> None:
        """The loop from now on. The caller does not change this value any more."""

    def news(self, event: RunEvent) -> None: ...

    def output(self, attempt: int, line: str) -> None: ...

    def close(self) -> None: ...
