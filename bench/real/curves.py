"""Curves: tasks solved after so many attempts, and for so many tokens, on average over the orders of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from statistics import fmean, stdev

import msgspec

from bench.convergence.recorded import answers
from bench.real.policies import MOST, Log, tokens_of

SEEDS = 100
FAMILY = "d"
BUDGETS = tuple(range(1, MOST + 1))
"""Attempts for each task, on average."""
_SURE = 1.96


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """By order of the answers, and then by budget."""

    solved: tuple[tuple[int, ...], ...]
    spent: tuple[tuple[int, ...], ...]
    """Tokens."""
    logs: tuple[tuple[tuple[int, int], ...], ...]
    """Of each order: tokens so far and tasks solved so far, after each attempt."""

    def means(self) -> list[float]:
        return [fmean(column) for column in zip(*self.solved, strict=True)]

    def tokens(self) -> list[float]:
        """For each task."""
        return [fmean(column) / len(answers()) for column in zip(*self.spent, strict=True)]

    def for_tokens(self, tokens: Sequence[float]) -> list[float]:
        """Solved for so many tokens for each task."""
        return [fmean(_within(log, most * len(answers())) for log in self.logs) for most in tokens]


def curve(solve: Callable[[str], Log], seeds: int = SEEDS) -> Curve:
    return _curve([[progress(solve(f"{FAMILY}{number}"))] * MOST for number in range(seeds)])


def curve_of_tries(solve: Callable[[str, int], Log], seeds: int = SEEDS) -> Curve:
    """For a policy in which another number of attempts is another policy."""
    return _curve([[progress(solve(f"{FAMILY}{number}", tries)) for tries in BUDGETS] for number in range(seeds)])


def _curve(by_seed: list[list[list[tuple[int, int]]]]) -> Curve:
    points = [
        [(log[: budget * len(answers())] or [(0, 0)])[-1] for budget, log in zip(BUDGETS, logs, strict=True)]
        for logs in by_seed
    ]
    return Curve(
        solved=tuple(tuple(solved for _, solved in row) for row in points),
        spent=tuple(tuple(tokens for tokens, _ in row) for row in points),
        logs=tuple(tuple(logs[-1]) for logs in by_seed),
    )


def progress(log: Log) -> list[tuple[int, int]]:
    tokens = accumulate(tokens_of(given) for given in log)
    solved = accumulate(int(given.passed) for given in log)
    return list(zip(tokens, solved, strict=True))


def _within(log: Sequence[tuple[int, int]], tokens: float) -> int:
    return max((solved for spent, solved in log if spent <= tokens), default=0)


def ahead(one: Curve, other: Curve) -> list[tuple[float, float]]:
    """By how many tasks at each budget, and half of the 95 % interval: both had the same answers."""
    found = []
    for mine, theirs in zip(zip(*one.solved, strict=True), zip(*other.solved, strict=True), strict=True):
        differences = [left - right for left, right in zip(mine, theirs, strict=True)]
        half = _SURE * stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else 0.0
        found.append((fmean(differences), half))
    return found
