"""Recorded outcomes of a real model: 72 tasks (small functions), three wordings each, forty answers to each.

`recorded.txt` has one line for each task: its name, and for each wording its forty answers, recorded from
Qwen2.5-Coder-1.5B-Instruct at temperature 0.8. A dot: the check of the task passed. A letter: it failed; the same
letter within a task: with the same words. The tasks do not depend on each other, and each wording is a way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from aotloop.core.model import Constraints
from bench.convergence.accounts import Ended
from bench.convergence.jobs import Job, Part, Unit
from bench.convergence.luck import Luck, Traits
from bench.convergence.others import repeat_until_checked
from bench.convergence.ours import ours

DATA = Path(__file__).with_name("recorded.txt")
BUDGETS = (2, 6, 10)
"""Attempts for each task."""
PASSED = "."

Answers = tuple[str, ...]
"""By wording."""


@cache
def answers() -> tuple[Answers, ...]:
    return tuple(tuple(line.split()[1:]) for line in DATA.read_text().splitlines())


AS_WRITTEN = (0, 1, 2)
"""Wordings in the order of the file: the shortest comes first."""


def job(order: tuple[int, ...] = AS_WRITTEN, table: tuple[Answers, ...] | None = None) -> Job:
    """`order`: the wording that is the first way, and so on. `table`: other recorded answers."""
    return Job(
        units=tuple(
            Unit(number=number, needs=(), possible=tuple(PASSED in wordings[one] for one in order))
            for number, wordings in enumerate(table or answers())
        )
    )


class Given(NamedTuple):
    """An answer that was given: its number among the recorded ones of a task and wording, and whether it passed."""

    task: int
    wording: int
    number: int
    passed: bool


class RecordedLuck(Luck):
    """The n-th attempt at a task in one wording has the n-th answer, in an order drawn by the seed."""

    def __init__(
        self, seed: str, order: tuple[int, ...] = AS_WRITTEN, table: tuple[Answers, ...] | None = None
    ) -> None:
        super().__init__(seed, Traits(chance=0.0))
        self._table = table or answers()
        self.given: list[Given] = []
        self._name, self._order = seed, order
        self._numbers: dict[tuple[int, int], list[int]] = {}
        self._counts: Counter[tuple[int, int]] = Counter()
        self._said = ""

    def successes(self, parts: Iterable[Part], *, before: int = 0) -> list[bool]:  # noqa: ARG002
        return [self.answer(unit, self._order[way]) for unit, way, _ in parts]

    def answer(self, task: int, wording: int) -> bool:
        key, recorded = (task, wording), self._table[task][wording]
        if key not in self._numbers:
            self._numbers[key] = Random(f"{self._name} {key}").sample(range(len(recorded)), len(recorded))
        number = self._numbers[key][self._counts[key] % len(recorded)]
        self._counts[key] += 1
        self._said = recorded[number]
        self.given.append(Given(task, wording, number, self._said == PASSED))
        return self._said == PASSED

    def evidence(self, missing: Iterable[Part]) -> str:  # noqa: ARG002
        return f"its check fails: {self._said}"


def solved_by_ours(seed: str, budget: int) -> Ended:
    tasks = job()
    limits = Constraints(max_total_attempts=budget * len(tasks.units))
    return ours(tasks, RecordedLuck(seed), limits, budget=budget)


def solved_by_repeat(seed: str, budget: int) -> Ended:
    return repeat_until_checked(job(), RecordedLuck(seed), budget=budget)


def solved_by_turns(seed: str, budget: int) -> Ended:
    """Without a machine: the task and the wording that failed least come next, and nothing else ends it."""
    tasks, luck = job(), RecordedLuck(seed)
    failures = {(unit.number, way): 0 for unit in tasks.units for way in range(len(unit.possible))}
    open_tasks = [unit.number for unit in tasks.units]
    for _ in range(budget * len(tasks.units)):
        if not open_tasks:
            break
        unit = min(open_tasks, key=lambda one: (sum(failures[one, way] for way in range(3)), one))
        way = min(range(3), key=lambda one: failures[unit, one])
        if luck.successes([(unit, way, 0)])[0]:
            open_tasks.remove(unit)
        else:
            failures[unit, way] += 1
    done = 1 - len(open_tasks) / len(tasks.units)
    return Ended(solved=done == 1, claimed=done == 1, attempts=0, cost=0.0, time=0.0, units=done)
