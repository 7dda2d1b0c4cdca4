"""Models as measured: the distribution of chances, fitted to recorded answers of real models.

A task in one wording has a chance, and its answers are draws. The chances of many have a Beta distribution; its
parameters are those under which the recorded numbers of passed answers are the likeliest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import lgamma, log
from pathlib import Path

import msgspec

from bench.convergence.recorded import DATA, PASSED

FILES = {"SmolLM2-135M": Path(__file__).with_name("recorded_small.txt"), "Qwen2.5-Coder-1.5B": DATA}
"""Recorded answers of each model: a line for each task, with its answers to each wording."""
_FINEST = 1e-4

Counts = Sequence[tuple[int, int]]
"""Of each task and wording: answers that passed, and all."""


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    alpha: float
    beta: float
    likelihood: float
    """Its logarithm."""
    constant: float
    """The same for one chance for all."""

    @property
    def mean(self) -> float:
        return round(self.alpha / (self.alpha + self.beta), 2)

    @property
    def spread(self) -> float:
        """The sum of both parameters, as in bench.convergence.luck.Traits."""
        return round(self.alpha + self.beta, 2)


@cache
def measured() -> dict[str, Fit]:
    return {model: fitted(counts_of(path)) for model, path in FILES.items()}


def counts_of(path: Path) -> list[tuple[int, int]]:
    wordings = [one for line in path.read_text().splitlines() for one in line.split()[1:]]
    return [(one.count(PASSED), len(one)) for one in wordings]


def fitted(counts: Counts) -> Fit:
    times = Counter(counts)

    def likelihood(alpha: float, beta: float) -> float:
        return sum(_likelihood(*one, alpha, beta) * often for one, often in times.items())

    alpha, beta = _highest(likelihood)
    passed, made = (sum(column) for column in zip(*counts, strict=True))
    chance = passed / made
    constant = passed * log(chance) + (made - passed) * log(1 - chance)
    return Fit(alpha=alpha, beta=beta, likelihood=likelihood(alpha, beta), constant=constant)


def _likelihood(passed: int, made: int, alpha: float, beta: float) -> float:
    """Of these answers, in their order."""
    return _log_beta(alpha + passed, beta + made - passed) - _log_beta(alpha, beta)


def _log_beta(alpha: float, beta: float) -> float:
    return lgamma(alpha) + lgamma(beta) - lgamma(alpha + beta)


def _highest(height: Callable[[float, float], float]) -> tuple[float, float]:
    """Climbs by factors that get smaller; there is one summit."""
    here, step = (1.0, 1.0), 1.0
    best = height(*here)
    while step > _FINEST:
        around = [(here[0] * (1 + step) ** x, here[1] * (1 + step) ** y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        top, found = max((height(*one), one) for one in around)
        if top > best:
            best, here = top, found
        else:
            step /= 2
    return here
