"""How far a test run is, and how long it will take: `pytest -p tests.progress`.

The estimate weighs each test by what it usually takes (tests/durations.py). Slow tests come first, so that no worker is
left alone with one at the end.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.durations import Durations

BAR = 30
STEP = 0.05
"""Of the whole: where there is no terminal, a line is printed each time as much is done."""
TOO_LITTLE = 0.02
"""Of the whole: as long as less is done, the rest cannot be estimated."""


class Estimate:
    """Weights come from what was measured before, the speed comes from this run itself."""

    def __init__(self, durations: Durations) -> None:
        self._durations = durations
        self._expected: dict[str, float] = {}
        self._sum = 1.0
        self._done = 0.0
        self.finished = 0

    def expect(self, tests: Iterable[str]) -> None:
        self._expected = {test: self._durations.of(test) for test in tests}
        self._sum = sum(self._expected.values()) or 1.0

    def finish(self, test: str) -> None:
        self._done += self._expected.get(test, 0.0)
        self.finished += 1

    @property
    def share(self) -> float:
        return min(self._done / self._sum, 1.0)

    def line(self, elapsed: float, failed: int) -> str:
        share = self.share
        left = f"about {clock(elapsed / share * (1 - share))} left" if share >= TOO_LITTLE else "…"
        filled = round(BAR * share)
        bar = "█" * filled + "░" * (BAR - filled)
        bad = f", {failed} failed" if failed else ""
        return f"{bar} {share:4.0%}  {self.finished:,} of {len(self._expected):,}{bad}  {clock(elapsed)}, {left}"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class SlowestFirst:
    """The order has to be the same in every worker."""

    def __init__(self, durations: Durations) -> None:
        self._durations = durations

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: -self._durations.of(item.nodeid))


class Progress:
    """One line that changes on a terminal, a line now and then elsewhere; in the place of the dots."""

    def __init__(self, estimate: Estimate, *, is_terminal: bool) -> None:
        self._estimate = estimate
        self._is_terminal = is_terminal
        self._began = time.monotonic()
        self._drawn = 0.0
        self._told = 0.0
        self._failed = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:  # not where workers collect
            self._estimate.expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._estimate.expect(ids)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        is_plain = report.when == "call" and report.passed and not hasattr(report, "wasxfail")
        return ("passed", "", "") if is_plain else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        self._failed += report.failed
        if report.when == "teardown":
            self._estimate.finish(report.nodeid)
            self._draw(time.monotonic())

    def _draw(self, now: float) -> None:
        is_due = now > self._drawn + 0.2 if self._is_terminal else self._estimate.share >= self._told + STEP
        if is_due:
            self._drawn, self._told = now, self._estimate.share
            line = self._estimate.line(now - self._began, self._failed)
            sys.stderr.write(f"\r\x1b[K{line}" if self._is_terminal else f"{line}\n")
            sys.stderr.flush()

    def pytest_sessionfinish(self) -> None:
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
        if kept := os.environ.get("TEST_TIMES"):
            Path(kept).write_text(json.dumps(self._seconds))


def pytest_configure(config: pytest.Config) -> None:
    durations = Durations.load()
    config.pluginmanager.register(SlowestFirst(durations))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(Estimate(durations), is_terminal=sys.stderr.isatty()))
