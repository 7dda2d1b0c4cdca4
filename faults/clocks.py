"""Clocks: the time of day jumps by hours and years while a loop runs; limits count the real time."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

from aotloop.core.model import Constraints
from faults.counts import Counts, Deadline
from faults.shim import clock_environ, why_not

KIND = "clock jumps"
HOUR, YEARS = 3600, 100_000_000
JUMPS: dict[str, tuple[int, ...]] = {
    "forward by hours": (0, 0, 0, 0, 0, 0, 0, 0, 5 * HOUR),
    "back by hours": (0, 0, 0, 0, 0, 0, 0, 0, -5 * HOUR),
    "to and fro": (0, 2 * HOUR, -2 * HOUR),
    "years": (0, YEARS, -YEARS, HOUR),
    "always later": tuple(range(0, 400 * HOUR, HOUR)),
    "always earlier": tuple(range(0, -400 * HOUR, -HOUR)),
}


def a_subject(folder: Path, environ: dict[str, str]) -> Project:
    """A limit of a minute for all, of a second for one atom that never ends, and a way around it."""
    return a_project(
        folder,
        *(atom(f"A{number}", run=f"sleep 0.1; echo {number} > f{number}") for number in range(3)),
        atom("slow", or_group="way", run="sleep 60", timeout="1s"),
        atom("quick", or_group="way", run="echo q > q"),
        atom("D", "slow", "A1", run="echo d > d"),
        base_case="test -f d -a -f q",
        constraints=Constraints(max_runtime="1m", max_attempts=1),
        environ=environ,
    )


def endured(folder: Path, jumps: tuple[int, ...], library: Path) -> list[str]:
    home = folder / "home"
    home.mkdir(parents=True)
    project = a_subject(folder, {"HOME": str(home), **clock_environ(library, jumps)})
    began, found = time.monotonic(), []
    with project.running() as process:
        until(lambda: project.loop.control.status == "running")
        redirected = project.aot("redirect", "--set", "max_iterations=50")
        if redirected.code:
            found.append(f"redirect: {redirected.err}")
        code = process.wait(PATIENCE)
    if code != 0:
        found.append(f"exit {code}: {project.loop.control.stop_reason}")
    control, reasons = project.loop.control, " ".join(entry.reason for entry in project.loop.trail)
    if not 0 < control.ran_seconds < time.monotonic() - began + 1:
        found.append(f"it says that it ran for {control.ran_seconds} s")
    if "did not end within 1 s" not in reasons:
        found.append(f"the limit of a second was not heeded: {reasons}")
    if project.loop.objective.constraints.max_iterations != 50:
        found.append("the redirection is gone")
    before, os.environ["HOME"] = os.environ["HOME"], str(home)
    try:
        return found + leftovers(project)
    finally:
        os.environ["HOME"] = before


def campaign(top: Path, deadline: Deadline) -> Counts:
    counts, began = Counts(KIND, skipped=why_not()), time.monotonic()
    library = top / "library"
    library.mkdir(exist_ok=True)
    for number, (name, jumps) in enumerate(JUMPS.items() if counts.skipped is None else ()):
        if deadline.is_over:
            break
        folder = top / f"clock-{number}"
        counts.add(name, endured(folder, jumps, library))
        shutil.rmtree(folder)
    counts.seconds = time.monotonic() - began
    return counts
