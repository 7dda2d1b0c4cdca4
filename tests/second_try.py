"""One more try for the few tests that fail beside others: `pytest -p tests.second_try`, which only CI asks for.

A machine that other work slows down can make a good test fail. A test that fails (in its set-up, too, or with its
worker) is run again, alone; its first failure is printed all the same, and it is named at the end. All of them have to
pass then: a skip is no pass. More failures than a few are no accident, and are not tried again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

MOST = 3


class SecondTry:
    def __init__(self) -> None:
        self._failed: dict[str, None] = {}
        self._passed_alone = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        is_few = 0 < len(self._failed) <= MOST
        if exitstatus == pytest.ExitCode.TESTS_FAILED and is_few and self._pass_alone(session.config.rootpath):
            self._passed_alone = True
            session.exitstatus = pytest.ExitCode.OK

    def _pass_alone(self, root: Path) -> bool:
        tests = list(self._failed)
        sys.stderr.write(f"\nRunning again, alone: {', '.join(tests)}\n")
        sys.stderr.flush()
        with TemporaryDirectory() as folder:
            report = Path(folder, "report.xml")
            ended = subprocess.run(again(tests, report), check=False, cwd=root).returncode
            return ended == pytest.ExitCode.OK and passed_in(report) == len(tests)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._passed_alone:
            terminalreporter.section("failed beside others, passed alone: a defect of the test or of aotloop, to mend")
            for test in self._failed:
                terminalreporter.write_line(f"UNSTABLE {test}")


def again(tests: Sequence[str], report: Path) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]


def passed_in(report: Path) -> int:
    cases = ET.parse(report).iter("testcase")
    return sum(all(case.find(bad) is None for bad in ("failure", "error", "skipped")) for case in cases)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTry())
