"""Agents that do not want to die, and all of their processes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.patience import PATIENCE, give_way, until
from tests.runner.projects import Project, a_project, processes_with
from tests.warm import Process

AGENTS = 8
EACH = 6
"""Processes: itself, a child, one in a session of its own with a child, one without a parent, a daemon."""
_SLEEPERS = 3
"""Of these."""

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
    """A command that goes on at every request to end, of which it leaves a note, and has processes in all places."""
    daemon = folder / "daemon.py"
    daemon.write_text(_DAEMON)
    return (
        f"trap '' INT HUP; trap 'touch {folder}/told-'$AOT_ATOM_ID TERM; "
        "(trap '' TERM; exec setsid sh -c 'sleep 3600; true') & "
        "(trap '' TERM; ( sleep 3600 ) & ) ; "
        f"{sys.executable} -I -S {daemon}; "
        "(trap '' TERM; exec sleep 3600) & while :; do wait; done"  # what is waited for so, a trap interrupts
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
    """When every process of every agent is there, and none of those that only help to start them."""
    with project.running() as process:
        until(lambda: _are_up(of_run(project)))
        yield process


def _are_up(found: set[int]) -> bool:
    return len(found) == AGENTS * EACH and len(list(filter(_sleeps, found))) == AGENTS * _SLEEPERS


def _sleeps(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text() == "sleep\n"
    except OSError:
        return False


def of_run(project: Project) -> set[int]:
    """Processes that this run has started."""
    run_id = project.loop.control.run_id
    return set(processes_with(f"AOT_RUN_ID={run_id}\0")) if run_id is not None else set()


def interrupt(process: Process) -> None:
    """Ctrl-C twice: once in order, and then at once."""
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        give_way(0.1)
    process.wait(PATIENCE)
