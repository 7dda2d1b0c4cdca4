"""The witness: a process that reads the state file all the time, also while its writer is killed."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from aotloop.core.model import Control
from aotloop.errors import AotError
from aotloop.statefile.reader import examine

_PAUSE = 0.002
COUNTERS = ("iteration", "epoch", "ran_seconds", "cost_usd")
"""Of the control: what never gets smaller."""


class Witness:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._is_over = threading.Event()
        self._last: tuple[bytes, Control | None] = (b"", None)
        self.looks = 0
        self.versions = 0
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.is_set():
            try:
                self._look()
            except (OSError, AotError) as error:
                self.problems.append(f"the state file cannot be read: {error}")
            time.sleep(_PAUSE)

    def _look(self) -> None:
        data, before = self._path.read_bytes(), self._last[1]
        self.looks += 1
        if data == self._last[0]:
            return
        self.versions += 1
        found = examine(data)
        if found.loop is None or found.errors:
            self.problems.append(f"the state file is not valid: {found.errors[:1] or 'no loop'}: {data[:200]!r}")
            return
        control = found.loop.control
        for name in COUNTERS:
            was, now = getattr(before, name, 0), getattr(control, name)
            if now < was:
                self.problems.append(f"{name} was {was}, and is {now}")
        self._last = (data, control)
