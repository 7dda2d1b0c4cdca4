"""Every mutant is tried: first by the quick tests of its own module, then by all others that run what it changes.

A mutant is killed if a test fails, or if it goes on for much longer than those tests took; else it survives.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from mutants.children import BrokenTrialError, Children
from mutants.mutant import Mutant
from mutants.project import Project
from mutants.reach import Reach
from mutants.session import Chosen, Replaced, run_tests

QUICK = 0.3
PATIENCE = 4
AT_LEAST = 8.0
"""Seconds of a processor: of a quick test; and a mutant may take so long, and so many times what its tests took."""

Outcome = Literal["killed", "hung", "survived"]
FAILED, PASSED = (1, 2), (0, 5)
"""Exit codes of pytest: tests failed or cannot be read; all passed, or there is none."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    mutant: Mutant
    outcome: Outcome
    by: str | None = None
    """The test that noticed."""


class _Round(msgspec.Struct, frozen=True):
    mutant: Mutant
    tests: list[str]
    left: list[list[str]]


def tried(
    project: Project, reach: Reach, mutants: Sequence[Mutant], *, processes: int, at_least: float = AT_LEAST
) -> Iterator[Tried]:
    """In the order in which they end."""
    waiting = deque(_rounds(project, reach, mutant) for mutant in mutants)
    children: Children[_Round] = Children(processes)
    while waiting or children:
        while waiting and not children.are_full:
            one = waiting.popleft()
            seconds = at_least + PATIENCE * sum(reach.seconds[test] for test in one.tests)
            children.start(one, partial(_try, project, reach, one), seconds=seconds)
        one, said = children.end_of_one()
        if said:
            yield Tried(mutant=one.mutant, outcome="killed", by=said.decode())
        elif said is None:
            yield Tried(mutant=one.mutant, outcome="hung")
        elif one.left:
            waiting.appendleft(_Round(one.mutant, one.left[0], one.left[1:]))
        else:
            yield Tried(mutant=one.mutant, outcome="survived")


def _rounds(project: Project, reach: Reach, mutant: Mutant) -> _Round:
    tests = reach.tests_of(mutant.module, mutant.function)
    first = [test for test in tests if reach.seconds[test] < QUICK and project.is_about(test, mutant.module)]
    rounds = [one for one in (first, [test for test in tests if test not in set(first)]) if one] or [[]]
    return _Round(mutant, rounds[0], rounds[1:])


def _try(project: Project, reach: Reach, one: _Round, folder: Path) -> bytes:
    """The test that fails; nothing if none does."""
    if not one.tests:
        return b""
    mutant = one.mutant
    sys.meta_path.insert(0, Replaced(project.name_of(mutant.module), project.folder / mutant.module, mutant.text))
    chosen = Chosen(one.tests, known=reach.seconds)
    code = run_tests(project, dict.fromkeys(map(project.file_of, one.tests)), [chosen], folder)
    if code in PASSED:
        return b""
    if code in FAILED:
        return (chosen.failed or "?").encode()
    raise BrokenTrialError(f"pytest ended with {code}")
