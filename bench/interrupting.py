"""Interruption: the time until agents and judges are dead that ignore SIGTERM and have children and daemons.

The time is from the start of the command to the end of the last earlier process. `aot stop` gives agents five seconds
of grace, which are not counted here.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median

from tests.execution.judges.stubborn import judging, stubborn_judges
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.projects import Project, a_project
from tests.runner.stubborn import all_up, interrupt, of_run, stubborn_project
from tests.warm import Process

from bench.measure import Row

REDIRECT = ("redirect", "--set", "max_iterations=41")
GRACE = 5.0
Made = Callable[[Path, dict[str, str]], Project]
Up = Callable[[Project], AbstractContextManager[Process]]


def rows() -> Iterator[Row]:
    redirect = median(_seconds(stubborn_project, all_up, *REDIRECT) for _ in range(5))
    yield _row("8 stubborn agents dead after aot redirect / 1 s", redirect)
    stop = median(_seconds(stubborn_project, all_up, "stop") - GRACE for _ in range(3))
    yield _row("the same after aot stop, beyond its grace / 1 s", stop)
    told = median(_seconds(_obedient, _is_up, "stop") for _ in range(3))
    yield _row("an agent that ends when told, after aot stop / 1 s", told)
    judges = median(_seconds(stubborn_judges, judging, *REDIRECT) for _ in range(3))
    yield _row("3 stubborn judges dead after aot redirect / 1 s", judges)


def _row(name: str, seconds: float) -> Row:
    return Row(name, seconds * 1000, 1000, "goal: at most 1", "other")


def _obedient(folder: Path, environ: dict[str, str]) -> Project:
    return a_project(folder, atom("A1", run="exec sleep 3600"), base_case="false", environ=environ)


@contextmanager
def _is_up(project: Project) -> Iterator[Process]:
    with project.running() as process:
        until(lambda: of_run(project) and project.statuses()["A1"] == "in_progress")
        yield process


def _seconds(made: Made, up: Up, *command: str) -> float:
    with tempfile.TemporaryDirectory() as name:
        environ = {"HOME": name, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        project = made(Path(name), environ)
        with up(project) as process:
            seconds = _until_dead(project, *command)
            interrupt(process)
        return seconds


def _until_dead(project: Project, *command: str) -> float:
    before = of_run(project)
    began = time.monotonic()
    process = project.start(*command)
    try:
        while before & of_run(project):
            if time.monotonic() > began + PATIENCE:
                raise AssertionError("they live on")
            time.sleep(0.02)
        return time.monotonic() - began
    finally:
        process.communicate()
