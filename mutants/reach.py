"""Which test runs which function of what is mutated, and how long it takes: measured once, kept until a file changes.

A test that does not run a function cannot tell mutants of it from the function; it is not run for them.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import msgspec
import pytest

from mutants.children import BrokenTrialError, all_of
from mutants.project import Project
from mutants.session import Failures, run_tests

ON_IMPORT = ""
"""Stands for whatever is run before the first test: by imports, and to find the tests."""
MOST_SECONDS = 1200


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    seconds: dict[str, float]
    """Of a processor, by test."""
    functions: dict[str, set[str]]
    """By test: `module:function`."""

    def is_for_all(self, module: str, function: str | None) -> bool:
        """Any test may notice."""
        return function is None or f"{module}:{function}" in self.functions[ON_IMPORT]

    def tests_of(self, module: str, function: str | None) -> list[str]:
        """The quickest first."""
        name, is_for_all = f"{module}:{function}", self.is_for_all(module, function)
        found = [test for test in self.seconds if is_for_all or name in self.functions[test]]
        return sorted(found, key=lambda test: (self.seconds[test], test))


def reach_of(project: Project, *, processes: int) -> Reach:
    digest = _digest(project)
    if project.cache.is_file():
        of_what, kept = msgspec.json.decode(project.cache.read_bytes(), type=tuple[str, Reach])
        if of_what == digest:
            return kept
    works = [partial(_measure, project, part, processes) for part in range(processes)]
    seconds: dict[str, float] = {}
    functions: dict[str, set[str]] = {}
    for said in all_of(works, seconds=MOST_SECONDS):
        measured = msgspec.json.decode(said, type=Reach)
        seconds |= measured.seconds
        for test, names in measured.functions.items():
            functions.setdefault(test, set()).update(names)
    reach = Reach(seconds=seconds, functions=functions)
    if project.cache.parent.is_dir():
        project.cache.write_bytes(msgspec.json.encode((digest, reach)))
    return reach


class Watch:
    """Runs every test of its part, and notes what each runs."""

    def __init__(self, folder: Path, part: int, parts: int) -> None:
        self.seconds: dict[str, float] = {}
        self.functions: dict[str, set[str]] = {ON_IMPORT: set()}
        self._seen = self.functions[ON_IMPORT]
        self._folder = f"{folder}/"
        self._part, self._parts = part, parts
        self._names: dict[CodeType, str | None] = {}

    def called(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code not in self._names:
            inside = code.co_filename.startswith(self._folder)
            function = code.co_qualname.partition(".<locals>")[0]
            self._names[code] = f"{code.co_filename.removeprefix(self._folder)}:{function}" if inside else None
        name = self._names[code]
        if name is not None:
            self._seen.add(name)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = items[self._part :: self._parts]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._seen = self.functions[item.nodeid] = set()
        began = time.process_time()
        sys.settrace(self.called)
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = round(time.process_time() - began, 4)


def _measure(project: Project, part: int, parts: int, folder: Path) -> bytes:
    watch = Watch(project.folder, part, parts)
    failures = Failures()
    sys.settrace(watch.called)
    code = run_tests(project, [str(project.tests)], [failures, watch], folder)
    sys.settrace(None)
    if code:
        raise BrokenTrialError(f"the tests fail as they are: {failures.first or code}")
    return msgspec.json.encode(Reach(seconds=watch.seconds, functions=watch.functions))


def _digest(project: Project) -> str:
    digest = hashlib.sha256(f"{sys.version} {pytest.__version__}".encode())
    for path in project.files():
        digest.update(f"{path.relative_to(project.root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
