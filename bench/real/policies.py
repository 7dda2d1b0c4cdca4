"""What policies solve with the recorded answers: ours by the machine itself, and the two that others use.

Answers come in the same order for every policy. Each attempt is one answer. Its cost, with its
start and its check, is counted as on the convergence page.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from bench.convergence.accounts import CHECK, PART, START, Ended
from bench.convergence.recorded import RecordedLuck, answers, solved_by_ours
from bench.convergence.recorded import solved_by_repeat as solved_by_rounds

SEEDS = 20
BUDGETS = tuple(range(1, 11))
"""Attempts for each task."""
GOAL, SOLVABLE = 56, 62
"""Of the recorded tasks, so many can be solved in some wording, and so many are to be solved with default limits."""


def solved_by_retry(seed: str, budget: int) -> Ended:
    """The first wording of each task, so many times; then the task is given up."""
    return _first_wording(seed, budget, budget)


def solved_by_repeat(seed: str, budget: int) -> Ended:
    """The same prompt for everything that is not done, round after round, as long as there is budget."""
    return _first_wording(seed, budget, None)


def _first_wording(seed: str, budget: int, most: int | None) -> Ended:
    luck, count = RecordedLuck(seed), len(answers())
    left, attempts, rounds = list(range(count)), 0, 0
    while left and attempts < budget * count and (most is None or rounds < most):
        rounds += 1
        for task in list(left):
            if attempts < budget * count:
                attempts += 1
                if luck.successes([(task, 0, 0)])[0]:
                    left.remove(task)
    share = 1 - len(left) / count
    cost = attempts * (PART + START + CHECK) / count
    return Ended(solved=not left, claimed=not left, attempts=attempts, cost=cost, time=0.0, units=share)


POLICIES: dict[str, Callable[[str, int], Ended]] = {
    "aotloop": solved_by_ours,
    "repeat": solved_by_repeat,
    "retry only": solved_by_retry,
    "repeat, told all wordings": solved_by_rounds,
}


def curve(policy: str, seeds: int = SEEDS) -> list[tuple[int, float, float]]:
    """Budget for each task, mean number of tasks solved, mean cost for each task."""
    solve, count = POLICIES[policy], len(answers())
    points = []
    for budget in BUDGETS:
        ended = [solve(f"d{number}", budget) for number in range(seeds)]
        points.append((budget, count * fmean(one.units for one in ended), fmean(one.cost for one in ended)))
    return points


def at_cost(points: list[tuple[int, float, float]], cost: float) -> float:
    """Solved for this cost, between the points of the curve."""
    before = (0.0, 0.0)
    for _, solved, spent in points:
        if spent >= cost:
            share = (cost - before[1]) / (spent - before[1])
            return before[0] + share * (solved - before[0])
        before = (solved, spent)
    return before[0]
