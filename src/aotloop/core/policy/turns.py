"""Turns and patience: a loop uses its own successes to tell bad luck from a way that does not work.

A failure is bad luck until an atom has failed much more often than atoms of this loop usually do. `usual` is the mean
number of attempts that resolved atoms needed. Failures of open atoms are not included: an estimate from all attempts
would influence itself. docs/benchmarks-convergence.md shows how well these constants work.
"""

from __future__ import annotations

from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Loop

PATIENCE = 12
"""An atom may fail this many times the usual number before an earlier choice is blamed."""
SHARE = 4
"""One choice may use at most one in this many of all attempts; a whole unit may use half of them."""
BLAME = 12
"""One blame counts as this many failures."""
SWEEPS = 3
"""A generation lasts this many times the usual attempts at each alternative of one unit."""
HINT = 0.5
"""The first hint counts if the atom that gives it has failed for this part of the usual attempts, or longer."""
HOPELESS = 1.5
"""A unit is hopeless if its choices together failed alike this many times as often as bad luck explains."""
HARDER = 12
"""A hopeless unit also fails this many times as often as the hardest resolved atom. Some atoms are difficult."""
MOST = 0.8
"""A unit that used this part of all attempts by failing alike is given up in any case."""
VAIN = 2
"""A retry builds on earlier work for this many times the usual attempts without progress; then it starts clean."""
DOUBLING = 0.5
"""It does so for this part of all failures of the atom, too: each tree gets as long as all trees before it."""
_ONE_MORE, _CAUTION = 2, 6
"""The assumed need of the first success. Where a mistake costs more than an attempt, few successes weigh less."""


def usual(loop: Loop) -> float:
    """The mean number of attempts that resolved atoms needed. Before the first one, it is two."""
    return (loop.control.needed + _ONE_MORE) / (loop.control.won + 1)


def at_worst(loop: Loop) -> float:
    """The same with more caution, because the first resolved atoms are the easy and lucky ones."""
    return (loop.control.needed + _CAUTION) / (loop.control.won + 1)


def turn(loop: Loop) -> int:
    """Failures in a row before the next choice has its turn. If most attempts succeed, one failure is enough."""
    return min(limits_of(loop.objective.constraints).max_attempts, max(1, int(usual(loop) + 0.5)))


def bad_luck(loop: Loop) -> float:
    """How often a working choice may fail, independent of the number of attempts."""
    return PATIENCE * at_worst(loop)


def patience(loop: Loop) -> int:
    """The failures of one choice that still count as bad luck; also the number of rounds of repair.

    In a small loop this is a share of all attempts at most, because another way needs attempts too.
    """
    share = attempts_allowed(loop) // SHARE
    return max(limits_of(loop.objective.constraints).max_attempts, min(round(bad_luck(loop)), share))


def most_in_vain(loop: Loop, failures: int) -> int:
    """Attempts in a row that build on earlier work without progress, before one starts clean.

    `failures`: of the atom. A difficult atom gets more and more time.
    """
    return max(2, round(VAIN * usual(loop)), int(DOUBLING * failures))
