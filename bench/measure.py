"""Measurement of the rows: contenders take turns, so that other load on the machine affects all of them alike."""

from __future__ import annotations

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


def in_turn(
    contenders: Mapping[str, Callable[[], object]], rounds: int, summary: Callable[[list[float]], float] = min
) -> dict[str, float]:
    """The best time of pure computation says what it costs; of work with the disk or new processes, the median does."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) * 1000)
    return {name: summary(taken) for name, taken in times.items()}
