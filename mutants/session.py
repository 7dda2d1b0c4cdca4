"""One run of pytest in this process: chosen tests, in order, up to the first that fails; the same each time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from hypothesis import Phase, settings

from mutants.project import Project
from mutants.transplant import compiled

FEWER = 2
"""So many times fewer generated cases than else: a mutant that only the others notice is told as a survivor."""

PATIENCE = 4
"""A test may take so many times as long as without a mutant, beside what it may take anyway."""
PASSED, FAILED = (0, 5), (1, 2)
"""Exit codes of pytest: all passed, or there is none; tests failed or cannot be read."""


class Repeatable:
    """What is generated is the same each time; what fails is not made smaller."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        phases = (Phase.explicit, Phase.generate)
        fewer = settings().max_examples // FEWER
        settings.register_profile(
            "mutants", settings(), max_examples=fewer, derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


class Failures:
    def __init__(self) -> None:
        self.first: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.first = self.first or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.first = self.first or report.nodeid


class Limit:
    """A test that goes on for much longer than it did without a mutant ends the process, by SIGPROF."""

    def __init__(self, seconds: Mapping[str, float], at_least: float) -> None:
        self._seconds, self._at_least = seconds, at_least

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        limit = self._at_least + PATIENCE * self._seconds.get(item.nodeid, 0.0)
        signal.setitimer(signal.ITIMER_PROF, limit)


class Chosen:
    """Only these tests, in this order; before them, tests that are not known: those that only a mutant has."""

    def __init__(self, tests: Sequence[str], known: Container[str]) -> None:
        self._rank = {test: number for number, test in enumerate(tests)}
        self._known = known

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self._rank or item.nodeid not in self._known]
        items[:] = sorted(chosen, key=lambda item: self._rank.get(item.nodeid, -1))


class Instead:
    """All tests are read, and then something else is done with them than to run them once."""

    def __init__(self, work: Callable[[Callable[[Sequence[str]], str | None]], None]) -> None:
        self._work = work

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        failures = Failures()
        session.config.pluginmanager.register(failures)

        def first_that_fails(tests: Sequence[str]) -> str | None:
            for test in tests:
                session.config.hook.pytest_runtest_protocol(item=items[test], nextitem=None)
                if failures.first is not None:
                    break
            return failures.first

        self._work(first_that_fails)
        return True


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, text: bytes) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one
        return compiled(self._text, self.path)


class Replaced(MetaPathFinder):
    """A module with another text than that of its file."""

    def __init__(self, name: str, path: Path, text: bytes) -> None:
        self._name, self._path, self._text = name, str(path), text

    def find_spec(
        self, fullname: str, path: Iterable[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=_Loader(fullname, self._path, self._text))


def run_tests(project: Project, files: Iterable[str], plugins: Sequence[object], folder: Path) -> int:
    os.chdir(project.root)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    sys.path[:0] = project.search_path
    warned = "-Wignore::pytest.PytestAssertRewriteWarning"  # of plugins that are imported already: they are not tested
    options = ["-x", "-q", warned, "--tb=no", "--capture=no", "-p", "no:cacheprovider", f"--rootdir={project.root}"]
    return pytest.main([*options, *files], plugins=[Repeatable(), *plugins])
