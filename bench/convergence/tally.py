"""Figures of many jobs, each with the interval in which its true value lies in 95 of 100 such campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean

import msgspec

from bench.convergence.accounts import Ended

Z = 1.96


class Figure(msgspec.Struct, frozen=True):
    value: float
    low: float
    high: float


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    jobs: int
    solved: int
    false: int
    """Claimed to be done, and not done."""
    attempts: float | None
    """Mean of the jobs that were solved; None: none was."""
    time: float | None
    """The same; as a multiple of the time that one agent needs if nothing fails."""
    cost: Figure | None
    """For each job that was solved, what all jobs cost, as a multiple of the least work; None: none was solved."""
    spent: float
    """Mean cost of all jobs, whether they were solved or not."""
    units: float
    """Mean share of the units that are done, together with all that they need."""
    blocked: int
    """Jobs of ours that ended for a unit that was recognised as hopeless."""

    @classmethod
    def of(cls, ended: Sequence[Ended]) -> Tally:
        solved = [one for one in ended if one.solved]
        return cls(
            jobs=len(ended),
            solved=len(solved),
            false=sum(one.is_false for one in ended),
            attempts=fmean(one.attempts for one in solved) if solved else None,
            time=fmean(one.time for one in solved) if solved else None,
            spent=fmean(one.cost for one in ended),
            units=fmean(one.units for one in ended),
            blocked=sum(one.is_blocked for one in ended),
            cost=_ratio([one.cost for one in ended], [one.solved for one in ended]) if solved else None,
        )

    @property
    def solved_rate(self) -> Figure:
        return wilson(self.solved, self.jobs)

    @property
    def false_rate(self) -> Figure:
        return wilson(self.false, self.jobs)


def wilson(successes: int, of: int) -> Figure:
    """Wilson's interval: it keeps within 0 and 1, and holds where there are only few of either kind."""
    rate = successes / of
    middle = (rate + Z**2 / (2 * of)) / (1 + Z**2 / of)
    half = Z / (1 + Z**2 / of) * sqrt(rate * (1 - rate) / of + Z**2 / (4 * of**2))
    return Figure(rate, max(middle - half, 0.0), min(middle + half, 1.0))


def _ratio(costs: Sequence[float], solved: Sequence[bool]) -> Figure:
    """Of two sums over the same jobs; the interval by the delta method."""
    ratio = sum(costs) / sum(solved)
    of = len(costs)
    spread = sqrt(fmean((cost - ratio * is_solved) ** 2 for cost, is_solved in zip(costs, solved, strict=True)) / of)
    half = Z * spread / fmean(solved)
    return Figure(ratio, max(ratio - half, 0.0), ratio + half)
