"""Measurement of the rows: contenders take turns, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

import msgspec


class Row(msgspec.Struct, frozen=True):
    """Milliseconds of us and of what we are compared with; `goal` bounds the ratio."""

    name: str
    ours: float
    other: float
    goal: str
    faster_is: str

    @property
    def ratio(self) -> float:
        return self.other / self.ours if self.faster_is == "ours" else self.ours / self.other

    def line(self) -> str:
        word = "x faster" if self.faster_is == "ours" else "x the time"
        return f"{self.name:<58} {self.ours:>9.3f} {self.other:>9.3f}  {self.ratio:>6.2f}{word:<11} {self.goal}"


def environment_of_a_user(**more: str) -> dict[str, str]:
    """Compiled modules are kept, which PYTHONDONTWRITEBYTECODE would forbid."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AOT_"))} | more


def in_turn(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int,
    summary: Callable[[list[float]], float] = min,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The best time of pure computation says what it costs; of work with the disk or new processes, the median does.

    `clock`: for pure computation `time.thread_time`, which other load on the machine disturbs least.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = clock()
            run()
            times[name].append((clock() - start) * 1000)
    return {name: summary(taken) for name, taken in times.items()}
