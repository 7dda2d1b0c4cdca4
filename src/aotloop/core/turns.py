"""How patient a loop is: by what its own successes needed, it tells bad luck from a way that leads nowhere.

A failure is bad luck until an atom has failed much more often than atoms of this loop usually do. `usual` is the mean
number of attempts that resolved atoms needed. Failures of atoms that are still open do not enter: an estimate from all
attempts would feed back on itself. How well these constants do is in docs/benchmarks-convergence.md.
"""

from __future__ import annotations

from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Loop

PATIENCE = 12
"""An atom may fail this many times as often as usual before an earlier choice is to blame."""
SHARE = 4
"""Patience with one choice uses up at most one part in so many of all attempts; with a whole unit, half of them."""
BLAME = 12
"""Failures that one blame counts for."""
SWEEPS = 3
"""A generation lasts for this many times the usual attempts at each alternative of one unit."""
HOPELESS = 1.2
"""A unit whose every choice failed alike for this many times the patience, whatever it rested on, cannot be done."""
HARDER = 6
"""For that, it also has to fail this many times as often as the hardest atom that was resolved: some are difficult."""
VAIN = 2
"""A retry starts from what was left for this many times the usual attempts without progress, then clean."""
_ONE_MORE, _CAUTION = 2, 6
"""What the first success is taken to need. Where a mistake costs more than an attempt, few successes count for less."""


def usual(loop: Loop) -> float:
    """Attempts that an atom needed, on average of those resolved so far; before there is one, two."""
    return (loop.control.needed + _ONE_MORE) / (loop.control.won + 1)


def at_worst(loop: Loop) -> float:
    """The same with more caution: the first atoms to be resolved are the easy and the lucky ones."""
    return (loop.control.needed + _CAUTION) / (loop.control.won + 1)


def turn(loop: Loop) -> int:
    """Failures in a row before the next choice has its turn: where most succeed at once, one failure says enough."""
    return min(limits_of(loop.objective.constraints).max_attempts, max(1, int(usual(loop) + 0.5)))


def bad_luck(loop: Loop) -> float:
    """How often a choice may fail that works in the end, however many attempts there are."""
    return PATIENCE * at_worst(loop)


def patience(loop: Loop) -> int:
    """Failures of one choice that are still bad luck; also the rounds of repair.

    In a small loop, no more than a share of all attempts: another way is of use only if there are attempts left for it.
    """
    share = attempts_allowed(loop) // SHARE
    return max(limits_of(loop.objective.constraints).max_attempts, min(round(bad_luck(loop)), share))


def most_in_vain(loop: Loop) -> int:
    """Attempts in a row that start from what an earlier one left and get no further, before one starts clean."""
    return max(2, round(VAIN * usual(loop)))
