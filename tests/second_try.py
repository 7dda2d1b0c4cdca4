"""One more try for the few tests that fail beside others: `pytest -p tests.second_try`, which only CI asks for.

A machine that other work slows down can make a good test fail. A test that fails is run again, alone; its first failure
is printed all the same, and it is named at the end. More failures than a few are no accident, and are not tried again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

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

    def _pass_alone(self, root: object) -> bool:
        tests = list(self._failed)
        sys.stderr.write(f"\nRunning again, alone: {', '.join(tests)}\n")
        sys.stderr.flush()
        return subprocess.run(again(tests), check=False, cwd=str(root)).returncode == pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._passed_alone:
            terminalreporter.section("failed beside others, passed alone: a defect of the test or of aotloop, to mend")
            for test in self._failed:
                terminalreporter.write_line(f"UNSTABLE {test}")


def again(tests: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTry())
