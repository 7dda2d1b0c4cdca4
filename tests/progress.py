"""How far a test run is, and how long it will take: `pytest -p tests.progress`.

The estimate weighs each test by what tests of its file usually take (tests/durations.json, in seconds on two quiet
cores; `make test-times` measures them again). Slow files come first, so that no worker is left alone at the end.
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

DURATIONS = Path(__file__).with_name("durations.json")
USUAL = 0.05
"""Seconds, of a test in a file that was never measured."""
BAR = 30
STEP = 0.05
"""Of the whole: where there is no terminal, a line is printed each time as much is done."""


class Estimate:
    """Of a run: weights come from what was measured, the speed from this run itself."""

    def __init__(self, usual: dict[str, float]) -> None:
        self._usual = usual
        self._expected: dict[str, float] = {}
        self._done = 0.0
        self.finished = 0

    def expect(self, tests: Iterable[str]) -> None:
        self._expected = {test: self.weight(test) for test in tests}

    def weight(self, test: str) -> float:
        return self._usual.get(test.partition("::")[0], USUAL)

    def finish(self, test: str) -> None:
        self._done += self._expected.get(test, 0.0)
        self.finished += test in self._expected

    @property
    def total(self) -> int:
        return len(self._expected)

    @property
    def share(self) -> float:
        return min(self._done / (sum(self._expected.values()) or 1.0), 1.0)

    def left(self, elapsed: float) -> float | None:
        """Seconds; None while too little is done to tell."""
        return elapsed / self.share * (1 - self.share) if self.share >= 0.02 else None


def line(estimate: Estimate, elapsed: float, failed: int) -> str:
    left = estimate.left(elapsed)
    told = "…" if left is None else f"about {clock(left)} left"
    bad = f", {failed} failed" if failed else ""
    filled = round(BAR * estimate.share)
    bar = "█" * filled + "░" * (BAR - filled)
    return f"{bar} {estimate.share:4.0%}  {estimate.finished:,} of {estimate.total:,}{bad}  {clock(elapsed)}, {told}"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Replaces the dots: one line that changes on a terminal, a line now and then elsewhere."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._estimate = Estimate(json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {})
        self._began = time.monotonic()
        self._drawn = 0.0
        self._told = 0.0
        self._failed = 0
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: -self._estimate.weight(item.nodeid))
        self._estimate.expect(item.nodeid for item in items)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._estimate.expect(ids)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for what is as it should be."""
        if report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            return "passed", "", ""
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        self._failed += report.failed
        if report.when == "teardown":
            self._estimate.finish(report.nodeid)
            self._draw()

    def _draw(self) -> None:
        now, share = time.monotonic(), self._estimate.share
        if self._is_terminal and now - self._drawn > 0.2:
            self._drawn = now
            sys.stderr.write(f"\r\x1b[K{line(self._estimate, now - self._began, self._failed)}")
            sys.stderr.flush()
        elif not self._is_terminal and share >= self._told + STEP:
            self._told = share
            sys.stderr.write(f"{line(self._estimate, now - self._began, self._failed)}\n")
            sys.stderr.flush()

    def pytest_sessionfinish(self) -> None:
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
        if kept := os.environ.get("TEST_TIMES"):
            Path(kept).write_text(json.dumps(self._seconds))


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if is_worker:
        config.pluginmanager.register(Order(), "order")
    else:
        config.pluginmanager.register(Progress(is_terminal=sys.stderr.isatty()), "progress")


class Order:
    """In a worker: the same order as everywhere, which is all that it has to know."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        estimate = Estimate(json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {})
        items.sort(key=lambda item: -estimate.weight(item.nodeid))
