"""Reach: which test runs which mutated function, and its time; measured once, kept until a file changes.

A test that does not run a function cannot find its mutants; so it does not run for them.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FrameType

import msgspec
import pytest

from mutants.children import BrokenTrialError, all_of
from mutants.project import Project
from mutants.session import PASSED, Failures, run_tests

ON_IMPORT = ""
"""Stands for code that runs before the first test: imports, and the search for tests."""
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


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured, and of which texts: of what all tests use, and of each file of tests."""

    common: str
    files: dict[str, str]
    reach: Reach


def reach_of(project: Project, *, processes: int) -> Reach:
    """Only files of tests that are not what they were are measured again."""
    common, files = _digest(project, project.used_by_tests()), _digests(project)
    seconds: dict[str, float] = {}
    functions: dict[str, set[str]] = {ON_IMPORT: set()}
    kept = _kept(project)
    if kept is not None and kept.common == common:
        same = {name for name, digest in files.items() if kept.files.get(name) == digest}
        seconds = {test: took for test, took in kept.reach.seconds.items() if project.file_of(test) in same}
        functions = {test: kept.reach.functions[test] for test in (ON_IMPORT, *seconds)}
        files_to_measure = sorted(set(files) - same)
    else:
        files_to_measure = sorted(files)
    works = [partial(_measure, project, files_to_measure, part, processes) for part in range(processes)]
    for said in all_of(works if files_to_measure else [], seconds=MOST_SECONDS):
        measured = msgspec.json.decode(said, type=Reach)
        seconds |= measured.seconds
        for test, names in measured.functions.items():
            functions.setdefault(test, set()).update(names)
    reach = Reach(seconds=seconds, functions=functions)
    if project.cache.parent.is_dir():
        project.cache.write_bytes(msgspec.json.encode(_Kept(common=common, files=files, reach=reach)))
    return reach


def _kept(project: Project) -> _Kept | None:
    try:
        return msgspec.json.decode(project.cache.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None


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


def _measure(project: Project, files: Sequence[str], part: int, parts: int, folder: Path) -> bytes:
    watch = Watch(project.folder, part, parts)
    failures = Failures()
    sys.settrace(watch.called)
    code = run_tests(project, files, [failures, watch], folder)
    sys.settrace(None)
    if code not in PASSED:
        raise BrokenTrialError(f"the tests fail as they are: {failures.first or code}")
    return msgspec.json.encode(Reach(seconds=watch.seconds, functions=watch.functions))


def _digests(project: Project) -> dict[str, str]:
    return {str(path.relative_to(project.root)): _digest(project, [path]) for path in project.files_of_tests()}


def _digest(project: Project, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256(f"{sys.version} {pytest.__version__}".encode())
    for path in paths:
        digest.update(f"{path.relative_to(project.root)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
