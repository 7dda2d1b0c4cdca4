"""Trials of mutants: first the quick tests of its own module, then all other tests that run the changed code.

A mutant is killed if a test fails, or if it runs for much longer than those tests took; else it survives. Each trial is
a process forked from one that has imported all tests; a mutant with an effect on import uses one that has not.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from mutants.children import BrokenTrialError, Children, silent
from mutants.mutant import Mutant
from mutants.project import Project
from mutants.reach import Reach
from mutants.session import FAILED, PASSED, PATIENCE, Chosen, Failures, Instead, Limit, Replaced, run_tests
from mutants.transplant import transplant

QUICK = 0.3
AT_LEAST = 4.0
"""Seconds of a processor: of a quick test; and what every test may take, however quick it is without a mutant."""
FEW = 6
TO_READ = 30.0
"""Seconds that reading all tests may take."""

Outcome = Literal["killed", "hung", "survived"]


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    mutant: Mutant
    outcome: Outcome
    by: str | None = None
    """The test that noticed."""


class Trials(msgspec.Struct, frozen=True, kw_only=True):
    project: Project
    reach: Reach
    processes: int
    at_least: float = AT_LEAST
    only_quick: bool = False
    """Slow tests are not run: sooner, and stricter."""

    def of(self, mutants: Sequence[Mutant]) -> Iterator[Tried]:
        """In the order in which they end."""
        on_import = [
            one for one in mutants if self.reach.is_for_all(one.module, one.function) or "super()" in one.before
        ]
        others = [one for one in mutants if one not in on_import]
        if others:
            yield from self._in_read_tests(others)
        left: list[Mutant] = []
        for one in self._each(on_import, lambda mutant: partial(self._read_and_try, mutant, self._few_files(mutant))):
            if one.outcome == "survived":
                left.append(one.mutant)
            else:
                yield one
        yield from self._each(left, lambda mutant: partial(self._read_and_try, mutant, ()))

    def _in_read_tests(self, mutants: Sequence[Mutant]) -> Iterator[Tried]:
        """What comes of it is read from a process that has read all tests, and forks those that try."""
        here, there = os.pipe()
        broken = Path(tempfile.mkdtemp(prefix="aot-mutants-")) / "broken"
        pid = os.fork()
        if not pid:
            os.close(here)
            with silent(broken), os.fdopen(there, "wb") as told:
                self._serve(mutants, told)
        os.close(there)
        with os.fdopen(here, "rb") as told:
            for line in told:
                yield msgspec.json.decode(line, type=Tried)
        said = broken.read_text() if os.waitpid(pid, 0)[1] else ""
        shutil.rmtree(broken.parent)
        if said:
            raise BrokenTrialError(said)

    def _serve(self, mutants: Sequence[Mutant], told: BinaryIO) -> None:
        broken: list[Exception] = []

        def work(first_that_fails: Callable[[Sequence[str]], str | None]) -> None:
            gc.freeze()
            trial = partial(self._transplant_and_try, first_that_fails)
            try:
                for one in self._each(mutants, lambda mutant: partial(trial, mutant)):
                    told.write(msgspec.json.encode(one) + b"\n")
                    told.flush()
            except BrokenTrialError as error:  # pytest would only say that something was
                broken.append(error)

        with tempfile.TemporaryDirectory(prefix="aot-mutants-") as folder:
            code = run_tests(self.project, [str(self.project.tests)], [Instead(work), self._limit()], Path(folder))
        if broken or code not in PASSED:
            raise broken[0] if broken else BrokenTrialError(f"pytest ended with {code}")

    def _each(
        self, mutants: Sequence[Mutant], trial_of: Callable[[Mutant], Callable[[Path], bytes]]
    ) -> Iterator[Tried]:
        waiting = deque(mutants)
        children: Children[Mutant] = Children(self.processes)
        while waiting or children:
            while waiting and not children.are_full:
                mutant = waiting.popleft()
                expected = sum(self.reach.seconds[test] for test in self._tests_of(mutant))
                children.start(mutant, trial_of(mutant), seconds=TO_READ + PATIENCE * expected)
            mutant, said = children.end_of_one()
            outcome: Outcome = "hung" if said is None else "killed" if said else "survived"
            yield Tried(mutant=mutant, outcome=outcome, by=said.decode() if said else None)

    def _transplant_and_try(
        self, first_that_fails: Callable[[Sequence[str]], str | None], mutant: Mutant, folder: Path
    ) -> bytes:
        """The test that fails; nothing if none does."""
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        assert mutant.function is not None
        transplant(self.project.name_of(mutant.module), mutant.function, mutant.text)
        return (first_that_fails(self._tests_of(mutant)) or "").encode()

    def _few_files(self, mutant: Mutant) -> tuple[str, ...]:
        """Files with quick tests that name the module: they are read much sooner than all files are."""
        files = dict.fromkeys(map(self.project.file_of, self._tests_of(mutant)))
        return tuple(one for one in files if self.project.names(one, mutant.module))[:FEW]

    def _read_and_try(self, mutant: Mutant, only: Sequence[str], folder: Path) -> bytes:
        """`only`: in these files; none: in all."""
        tests = [one for one in self._tests_of(mutant) if not only or self.project.file_of(one) in only]
        path = self.project.folder / mutant.module
        sys.meta_path.insert(0, Replaced(self.project.name_of(mutant.module), path, mutant.text))
        failures = Failures()
        files = dict.fromkeys(map(self.project.file_of, tests))
        code = run_tests(
            self.project, files, [Chosen(tests, known=self.reach.seconds), failures, self._limit()], folder
        )
        if code in PASSED:
            return b""
        if code in FAILED:
            return (failures.first or "the tests cannot be read").encode()
        raise BrokenTrialError(f"pytest ended with {code}")

    def _limit(self) -> Limit:
        return Limit(self.reach.seconds, self.at_least)

    def _tests_of(self, mutant: Mutant) -> list[str]:
        tests = self.reach.tests_of(mutant.module, mutant.function)
        quick = [one for one in tests if self.reach.seconds[one] < QUICK]
        first = [one for one in quick if self.project.is_about(one, mutant.module)]
        return list(dict.fromkeys((*first, *(quick if self.only_quick else tests))))
