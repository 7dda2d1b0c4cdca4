"""How long an agent takes to begin: from the start of its process to the first file that it changes."""

from __future__ import annotations

import time


class Stopwatch:
    def __init__(self) -> None:
        self._began: float | None = None
        self.seconds: float | None = None
        """None: it has changed nothing so far."""

    def begin(self) -> None:
        self._began = time.monotonic()

    def change(self) -> None:
        """It changes a file; only the first time counts."""
        if self._began is not None and self.seconds is None:
            self.seconds = time.monotonic() - self._began
