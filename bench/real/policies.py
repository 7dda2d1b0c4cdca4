"""What policies do with the recorded answers: ours by the machine itself, and what others do.

Answers to a task in one wording come in the same order for every policy. Each attempt is one answer. It costs the
tokens of its question and of that answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from aotloop.core.model import Constraints
from aotloop.simulator import simulate
from bench.convergence.accounts import Account
from bench.convergence.agents import Agents
from bench.convergence.graphs import COMMIT, loop_of
from bench.convergence.jobs import Job
from bench.convergence.ours import AS_SHIPPED, DEFAULTS
from bench.convergence.recorded import AS_WRITTEN, Given, RecordedLuck, answers, job
from bench.real.tasks import FOLDER, question, tasks

MOST = 10
"""Attempts for each task, on average."""
EXPLICIT = (2, 1, 0)
"""The most explicit wording first: in steps, then with a signature and an example, then short."""

Log = list[Given]
"""Attempts in their order."""
Choice = Callable[[RecordedLuck, int], int]
"""The wording of the next attempt at a task."""


def ours(seed: str, order: tuple[int, ...] = EXPLICIT, limits: Constraints = DEFAULTS) -> Log:
    """With default limits. It is stopped from outside, when it has had its attempts."""
    return simulated(RecordedLuck(seed, order), job(order), limits)


def simulated(luck: RecordedLuck, tasks_of_job: Job, limits: Constraints, most: int = MOST) -> Log:
    world = Agents(tasks_of_job, luck, Account(tasks_of_job, most), AS_SHIPPED)
    simulate(loop_of(tasks_of_job, limits), world, commit=COMMIT)
    return luck.given


def in_rounds(seed: str, choose: Choice, rounds: int | None = None) -> Log:
    """One attempt at everything that is not done, round after round."""
    luck, left = RecordedLuck(seed), list(range(len(answers())))
    most, made = MOST * len(left), 0
    while left and len(luck.given) < most and (rounds is None or made < rounds):
        made += 1
        for task in list(left):
            if len(luck.given) < most and luck.answer(task, choose(luck, task)):
                left.remove(task)
    return luck.given


def repeat(seed: str, wording: int = AS_WRITTEN[0]) -> Log:
    return in_rounds(seed, lambda _luck, _task: wording)


def repeat_with_all(seed: str) -> Log:
    """It draws one of the wordings for each attempt."""
    return in_rounds(seed, lambda luck, task: luck.way(task, len(AS_WRITTEN)))


def retry_only(seed: str, tries: int, wording: int = AS_WRITTEN[0]) -> Log:
    """So many attempts in one wording, then the task is given up."""
    return in_rounds(seed, lambda _luck, _task: wording, tries)


OURS, ALL = "aotloop", "repeat, told all wordings"
POLICIES: dict[str, Callable[[str], Log]] = {
    OURS: ours,
    ALL: repeat_with_all,
    "repeat, most explicit wording": lambda seed: repeat(seed, EXPLICIT[0]),
    "repeat": repeat,
    "aotloop, shortest wording first": lambda seed: ours(seed, AS_WRITTEN),
}
RETRIES = {"retry only, most explicit wording": EXPLICIT[0], "retry only": AS_WRITTEN[0]}
"""Another number of attempts is another policy there."""

# --- tokens ------------------------------------------------------------------------------------------------------

_CHARACTERS = 4
"""Of a question, in one token: an estimate."""


@cache
def _answer_tokens() -> tuple[tuple[tuple[int, ...], ...], ...]:
    lines = (line.split()[1:] for line in (FOLDER / "tokens.txt").read_text().splitlines())
    return tuple(tuple(tuple(map(int, wording.split(","))) for wording in line) for line in lines)


@cache
def _question_tokens(task: int, wording: int) -> int:
    return len(question(tasks()[task], wording)) // _CHARACTERS


def tokens_of(given: Given) -> int:
    return _question_tokens(given.task, given.wording) + _answer_tokens()[given.task][given.wording][given.number]
