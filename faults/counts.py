"""Counts for a kind of fault: cases, survived cases, and what was lost or let through."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

_MOST_SHOWN = 8


@dataclass
class Counts:
    kind: str
    cases: int = 0
    survivors: int = 0
    lost: int = 0
    """Updates that were reported as done, or were there before, and are gone."""
    injections: int = 0
    """Commands that ran without acceptance, and writes outside of the allowed places."""
    problems: list[str] = field(default_factory=list)
    skipped: str | None = None
    """Why there are no cases."""
    seconds: float = 0.0

    def add(self, name: str, problems: Iterable[str], *, lost: int = 0, injections: int = 0) -> None:
        """One case."""
        found = list(problems)
        self.cases += 1
        self.survivors += not found and not lost and not injections
        self.lost += lost
        self.injections += injections
        self.problems += [f"{name}: {problem}" for problem in found]

    @property
    def is_broken(self) -> bool:
        return bool(self.survivors < self.cases or self.lost or self.injections or self.problems)


class Deadline:
    """No other case is begun after it."""

    def __init__(self, seconds: float = float("inf")) -> None:
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    @property
    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())


def table(all_counts: Iterable[Counts]) -> str:
    rows = list(all_counts)
    lines = [f"{'kind':34}{'cases':>8}{'survivors':>11}{'lost updates':>14}{'executed injections':>21}{'seconds':>9}"]
    for one in rows:
        if one.skipped is not None and not one.cases:
            lines.append(f"{one.kind:34}{'skipped: ' + one.skipped}")
        else:
            figures = f"{one.cases:8,}{one.survivors:11,}{one.lost:14,}{one.injections:21,}{one.seconds:9.0f}"
            lines.append(f"{one.kind:34}{figures}")
    sums = [sum(getattr(one, name) for one in rows) for name in ("cases", "survivors", "lost", "injections")]
    lines.append(f"{'all':34}{sums[0]:8,}{sums[1]:11,}{sums[2]:14,}{sums[3]:21,}{sum(x.seconds for x in rows):9.0f}")
    for one in rows:
        lines += [f"  => {one.kind}: {problem}" for problem in one.problems[:_MOST_SHOWN]]
        if len(one.problems) > _MOST_SHOWN:
            lines.append(f"  => {one.kind}: … and {len(one.problems) - _MOST_SHOWN} more")
    return "\n".join(lines)
