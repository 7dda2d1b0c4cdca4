"""The command that runs acceptance tests: a person chose it, or the kind of file decides; and what its end means.

If the tests could not run, the result is unknown: they have neither failed nor passed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from shlex import quote
from tempfile import TemporaryDirectory

import msgspec

from aotloop.checks.command_check import check_command
from aotloop.core.phases.model import ShipSettings
from aotloop.errors import AotError
from aotloop.fence.check_fence import fence_around
from aotloop.foreign_files import begin_of_foreign
from aotloop.process import blocking_run
from aotloop.process.cancellation import Cancellation
from aotloop.process.own_programs import is_own
from aotloop.process.sandbox import Confinement
from aotloop.process.spec import Ending, Limits, ProcessSpec

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]*(?:/[A-Za-z0-9_.@+-]+)*")
"""A text that every shell reads only as a path."""

_PYTHON = ("{python} -m pytest -q", "{python} -m unittest")
_BY_SUFFIX: dict[str, str] = {
    ".bats": "bats",
    ".cjs": "node --test",
    ".go": "go test",
    ".js": "node --test",
    ".mjs": "node --test",
    ".php": "php",
    ".pl": "prove",
    ".rb": "ruby",
    ".sh": "sh",
    ".t": "prove",
    ".ts": "node --test",
}
_BY_NAME: tuple[tuple[str, str], ...] = (("_spec.rb", "rspec"),)

_SOME_BY_UNITTEST = re.compile(r"^Ran [1-9][0-9]* tests? in ", re.MULTILINE)

_SECONDS_TO_ASK = 30

_COULD_NOT_RUN = {
    2: "it was interrupted, or the tests could not be read",
    3: "pytest failed",
    4: "pytest was called in the wrong way",
    5: "there is no test in it",
}
"""Exit codes of pytest that say nothing about the tested code."""

_MORE = "PYTEST_ADDOPTS"
_LARGEST_REPORT = 100_000
"""The first bytes of a report, which contain its totals."""
_SUITE = re.compile(rb"<testsuite [^>]*>")
_COUNTS = re.compile(rb'\b(errors|failures|skipped|tests)="(\d+)"')


class TestRun(msgspec.Struct, frozen=True, kw_only=True):
    __test__ = False

    passed: bool | None
    """None: they could not run."""
    command: str
    evidence: str


def is_plain(path: str) -> bool:
    """Whether a shell reads it only as a path of the project."""
    return _PLAIN.fullmatch(path) is not None and ".." not in path.split("/")


def command_for(root: Path, file: str, settings: ShipSettings) -> str:
    """The command as shell words. The path is plain, so it has no special characters for a shell."""
    if not is_plain(file):
        raise AotError(
            f"{file!r} cannot be the path of the acceptance tests",
            hint="Use letters, digits, and . _ - + @ in it, as seen from the project: tests/acceptance/login_test.py",
        )
    return f"{settings.test_command or _usual(root, file)} {file}"


def _usual(root: Path, file: str) -> str:
    if file.endswith(".py"):
        python = ".venv/bin/python" if os.access(root / ".venv" / "bin" / "python", os.X_OK) else "python3"
        return _PYTHON[0 if _has_pytest(root, python) else 1].format(python=python)
    for end, command in _BY_NAME:
        if file.endswith(end):
            return command
    found = _BY_SUFFIX.get(PurePosixPath(file).suffix)
    if found is None:
        raise AotError(
            f"there is no known command to run {file}",
            hint='Say it in aot.toml: [ship] test_command = "…"; the path of the file is appended to it.',
        )
    return found


def _has_pytest(root: Path, python: str) -> bool:
    """Runs no code of the project, because the person may not have accepted that yet."""
    if "/" in python:
        return any((root / ".venv" / "lib").glob("python*/site-packages/pytest/__init__.py"))
    program = shutil.which(python)
    if program is None:
        return False
    if not is_own(program):  # it is not started to be asked
        environment = Path(program).absolute().parent.parent
        return any(environment.glob("lib/python*/site-packages/pytest/__init__.py"))
    spec = ProcessSpec(
        argv=(program, "-I", "-c", "import pytest"),
        cwd=Path("/"),
        env=dict(os.environ),
        limits=Limits(total=_SECONDS_TO_ASK),
        ending=Ending(clears=False),
    )
    try:
        return blocking_run.run(spec).status == 0
    except OSError:
        return False


def run_tests(
    root: Path,
    command: str,
    *,
    timeout: float,
    cancellation: Cancellation | None = None,
    variables: Mapping[str, str] | None = None,
    confinement: Confinement | None = None,
) -> TestRun:
    """`command` comes from `command_for`. `confinement`: what the tests may not change."""
    is_pytest = " -m pytest " in f" {command} "
    with (
        fence_around(confinement, variables) as fence,
        TemporaryDirectory(prefix="aot-tests-", dir=fence.temporary) as folder,
    ):
        report = Path(folder, "report.xml")
        more = {_MORE: f"{os.environ.get(_MORE, '')} {quote(f'--junitxml={report}')}".strip()} if is_pytest else {}
        reachable = fence.confinement.opened(Path(folder)) if fence.confinement is not None else None
        found = check_command(
            command,
            root=root,
            timeout=timeout,
            expect_fail=True,
            cancellation=cancellation,
            env={**fence.env, **more},
            confinement=reachable,
        )
        has_run_none = (is_pytest and _has_none_passed(report)) or (
            " -m unittest " in f" {command} " and _SOME_BY_UNITTEST.search(found.output or "") is None
        )
    evidence = found.evidence.replace(", but it should fail", "").replace(", which proves nothing", "")
    if found.exit_code == 0 and has_run_none:
        return TestRun(passed=None, command=command, evidence=f"{evidence} (not one of them was run to its end)")
    if found.exit_code in _COULD_NOT_RUN and is_pytest:
        return TestRun(passed=None, command=command, evidence=f"{evidence} ({_COULD_NOT_RUN[found.exit_code]})")
    ran = found.passed or found.exit_code == 0
    return TestRun(passed=not found.passed if ran else None, command=command, evidence=evidence)


def _has_none_passed(report: Path) -> bool:
    """Whether no test passed: all were skipped, or only collected, or the code under test ended pytest itself."""
    with suppress(OSError):
        if suite := _SUITE.search(begin_of_foreign(report, _LARGEST_REPORT)):
            counts = {name: int(number) for name, number in _COUNTS.findall(suite[0])}
            tests = counts.pop(b"tests", 0)
            return tests - sum(counts.values()) <= 0
    return True
