"""Bounds: what no loop can do, since it would have to know chances before it tries. They say how much room is left.

One knows the chances of all other tasks in all wordings, and learns about this one by failing. The other knows
the chances of this task, too. Both always make the attempt that is the likeliest to pass.
"""

from __future__ import annotations

from functools import cache
from math import prod

from bench.convergence.recorded import AS_WRITTEN, PASSED, RecordedLuck, answers
from bench.real.policies import MOST, Log

Chances = tuple[float, ...]
"""By wording."""
_UNSEEN = 0.2
"""Passed and failed answers that are added to the recorded ones: no chance is quite 0 or 1."""


def knows_others(seed: str) -> Log:
    luck, failures = RecordedLuck(seed), {task: [0, 0, 0] for task in range(len(answers()))}
    likely = {task: _expected(task, tuple(failed)) for task, failed in failures.items()}
    for _ in range(MOST * len(answers())):
        if not likely:
            break
        task = max(likely, key=lambda one: max(likely[one]))
        wording = _best(likely[task])
        if luck.answer(task, wording):
            del likely[task]
        else:
            failures[task][wording] += 1
            likely[task] = _expected(task, tuple(failures[task]))
    return luck.given


def knows_all(seed: str) -> Log:
    luck = RecordedLuck(seed)
    hopeful = [(task, _known(task)) for task in range(len(answers())) if max(_known(task))]
    for task, chances in sorted(hopeful, key=lambda one: -max(one[1])):
        while len(luck.given) < MOST * len(answers()):
            if luck.answer(task, _best(chances)):
                break
    return luck.given


def _best(chances: Chances) -> int:
    return max(AS_WRITTEN, key=lambda wording: chances[wording])


@cache
def _known(task: int) -> Chances:
    return tuple(one.count(PASSED) / len(one) for one in answers()[task])


@cache
def _cautious(task: int) -> Chances:
    return tuple((one.count(PASSED) + _UNSEEN) / (len(one) + 2 * _UNSEEN) for one in answers()[task])


@cache
def _expected(task: int, failures: tuple[int, ...]) -> Chances:
    """From the other tasks, each with the weight of how well it explains these failures."""
    total, sums = 0.0, [0.0, 0.0, 0.0]
    for other in range(len(answers())):
        if other != task:
            chances = _cautious(other)
            weight = prod((1 - chance) ** failed for chance, failed in zip(chances, failures, strict=True))
            total += weight
            sums = [one + weight * chance for one, chance in zip(sums, chances, strict=True)]
    return tuple(one / total for one in sums)


BOUNDS = {"knows the chances of all other tasks": knows_others, "knows every chance": knows_all}
