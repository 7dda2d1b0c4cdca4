"""Agents that do not want to die, and how long it takes until they have."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.projects import Project, a_project, processes_with
from tests.warm import Process

AGENTS = 8
EACH = 6
"""Processes, at least: itself, a child, one in a session of its own with a child, one without a parent, a daemon."""

_DAEMON = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for descriptor in range(3):
    os.close(descriptor)
time.sleep(3600)
"""


def stubborn(folder: Path) -> str:
    """A command that ignores every request to end, and leaves processes in all kinds of places."""
    daemon = folder / "daemon.py"
    daemon.write_text(_DAEMON)
    return (
        "trap '' TERM INT HUP; "
        "setsid sh -c 'sleep 3600; true' & "
        "( ( sleep 3600 ) & ) ; "
        f"{sys.executable} -I -S {daemon}; "
        f"touch {folder}/up-$AOT_ATOM_ID; "
        "while :; do sleep 3600; done"
    )


def stubborn_project(folder: Path, environ: dict[str, str] | None = None) -> Project:
    command = stubborn(folder)
    return a_project(
        folder,
        *(atom(f"A{number}", run=command) for number in range(AGENTS)),
        base_case="false",
        constraints=Constraints(max_parallel_agents=AGENTS),
        environ=environ,
    )


@contextmanager
def all_up(project: Project) -> Iterator[Process]:
    with project.running() as process:
        until(lambda: len(list(project.root.parent.glob("up-*"))) == AGENTS)
        yield process


def seconds_until_dead(project: Project, *command: str) -> float:
    """From the start of this command to the end of the last process that was there before it."""
    mark = f"AOT_RUN_ID={project.loop.control.run_id}\0"
    before = set(processes_with(mark))
    assert len(before) >= AGENTS * EACH
    began = time.monotonic()
    process = project.start(*command)
    try:
        while before & set(processes_with(mark)):
            assert time.monotonic() < began + PATIENCE, "they live on"
            time.sleep(0.02)
        return time.monotonic() - began
    finally:
        process.communicate()


def interrupt(process: Process) -> None:
    """Ctrl-C twice: once in order, and then at once."""
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    process.wait(PATIENCE)


def seconds_to_start(project: Project) -> float:
    """What any command of ours takes on this machine, as busy as it is now."""
    began = time.monotonic()
    project.aot("--version")
    return time.monotonic() - began
