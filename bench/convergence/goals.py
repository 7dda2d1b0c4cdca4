"""The goals of our policy, compared with a loop that repeats until checks pass; and where they are missed."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from bench.convergence.campaign import CHANCES, OURS, REPEAT, UNSOLVABLE, Results, unsolvable, usual
from bench.convergence.jobs import SHAPES, Shape
from bench.convergence.tally import Tally

POINTS, DEARER, TWICE_CHECKED, SLOWER, CHEAPER = 2.0, 1.02, 1.05, 0.6, 0.5


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Ours, as seen from the loop that repeats."""

    points: float
    """Per cent of the jobs that are solved, more or less."""
    cost: float | None
    """Of each job solved, as a multiple; None: one of the two solves none."""
    time: float | None
    false: int

    @classmethod
    def of(cls, ours: Tally, repeat: Tally) -> Compared:
        cost = None if ours.cost is None or repeat.cost is None else ours.cost.value / repeat.cost.value
        time = None if ours.time is None or repeat.time is None else ours.time / repeat.time
        points = 100 * (ours.solved_rate.value - repeat.solved_rate.value)
        return cls(points=points, cost=cost, time=time, false=ours.false)

    def misses(self, shape: Shape, chance: float) -> list[str]:
        """The first check of a chain's atom is its second, too: where nothing fails, checks are what it costs."""
        is_chain = shape.width == 1
        dearer = TWICE_CHECKED if is_chain and chance == CHANCES[-1] else DEARER
        missed = []
        if self.points < -POINTS:
            missed.append(f"solves {-self.points:.1f} points less")
        if self.cost is not None and self.cost > dearer:
            missed.append(f"costs {self.cost:.2f} times as much")
        if self.time is not None and self.time > SLOWER and not is_chain:
            missed.append(f"takes {self.time:.2f} of its time")
        if self.false:
            missed.append(f"{self.false} falsely done")
        return missed


def compared(results: Results, shape: Shape, chance: float, family: str) -> Compared:
    found = results[usual(shape, chance, family)]
    return Compared.of(found[OURS], found[REPEAT])


def missed(results: Results, family: str) -> Iterator[str]:
    for shape in SHAPES:
        for chance in CHANCES:
            if usual(shape, chance, family) in results:
                for what in compared(results, shape, chance, family).misses(shape, chance):
                    yield f"{shape.title}, p = {chance:g}: {what}"


def too_dear(results: Results) -> Iterator[str]:
    """Of jobs that cannot be done."""
    for shape in SHAPES:
        for chance in UNSOLVABLE:
            if unsolvable(shape, chance) in results:
                found = results[unsolvable(shape, chance)]
                share = found[OURS].spent / found[REPEAT].spent
                if share > CHEAPER:
                    yield f"{shape.title}, p = {chance:g}: {share:.2f} of what repeating spends"
