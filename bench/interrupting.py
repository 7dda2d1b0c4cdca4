"""How soon everything is dead, of eight agents that ignore SIGTERM and have children, sessions and daemons.

From the start of the command to the end of the last process; `aot stop` gives them five seconds of grace, which are
not counted here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.runner.stubborn import all_up, interrupt, seconds_until_dead, stubborn_project

from bench.measure import Row

REDIRECT = ("redirect", "--set", "max_iterations=41")
GRACE = 5.0


def rows() -> Iterator[Row]:
    redirect = median(_seconds(*REDIRECT) for _ in range(5))
    yield Row("8 stubborn agents dead after aot redirect / 1 s", redirect * 1000, 1000, "goal: at most 1", "other")
    stop = median(_seconds("stop") - GRACE for _ in range(3))
    yield Row("the same after aot stop, beyond its grace / 1 s", stop * 1000, 1000, "goal: at most 1", "other")


def _seconds(*command: str) -> float:
    with tempfile.TemporaryDirectory() as name:
        environ = {"HOME": name, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        project = stubborn_project(Path(name), environ)
        with all_up(project) as process:
            seconds = seconds_until_dead(project, *command)
            interrupt(process)
        return seconds
