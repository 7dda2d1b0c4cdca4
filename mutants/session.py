"""One run of pytest in this process: chosen tests, in order, up to the first that fails; the same each time."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Container, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from hypothesis import Phase, settings

from mutants.project import Project

FEWER = 2
"""So many times fewer generated cases than else: a mutant that only the others notice is told as a survivor."""


class Chosen:
    """Only these tests, in this order; before them, tests that are not known: those that only a mutant has."""

    def __init__(self, tests: Sequence[str], known: Container[str]) -> None:
        self._rank = {test: number for number, test in enumerate(tests)}
        self._known = known
        self.failed: str | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """What is generated is the same each time; what fails is not made smaller."""
        phases = (Phase.explicit, Phase.generate)
        fewer = settings().max_examples // FEWER
        settings.register_profile(
            "mutants", settings(), max_examples=fewer, derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self._rank or item.nodeid not in self._known]
        items[:] = sorted(chosen, key=lambda item: self._rank.get(item.nodeid, -1))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, text: bytes) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - there is one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(self._text, self.path, "exec", dont_inherit=True)


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
    sys.path[:0] = project.search_path
    warned = "-Wignore::pytest.PytestAssertRewriteWarning"  # of plugins that are imported already: they are not tested
    options = [
        "-x",
        "-q",
        warned,
        "--tb=no",
        "--capture=sys",
        "-p",
        "no:cacheprovider",
        f"--basetemp={folder / 'tests'}",
    ]
    return pytest.main([*options, f"--rootdir={project.root}", *files], plugins=[*plugins])
