"""The order to a driver, and its answer. Only the standard library is used: every contender imports this.

A folder with a file `log` in it asks for steps that leave a trace: each appends its number. If there is a file `bomb`
with a number in it, that step ends the process that executes it, as kill -9 does, once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

STEP = """\
echo "$1" >> log
if [ "$(cat bomb 2>/dev/null)" = "$1" ]; then rm bomb; kill -9 "$(cat pid)"; sleep 1; fi
"""


class Order(NamedTuple):
    work: str
    steps: int
    folder: Path
    leaves_traces: bool

    @property
    def is_chain(self) -> bool:
        return self.work.startswith("chain")

    def step(self, number: int) -> int:
        """What one step does as a function: nothing, unless a trace is asked for."""
        if self.leaves_traces:
            with (self.folder / "log").open("a") as log:
                log.write(f"{number}\n")
            bomb = self.folder / "bomb"
            if bomb.exists() and int(bomb.read_text()) == number:
                bomb.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        return number

    def command(self, number: int) -> str:
        """The same as a shell command, to be run in the folder."""
        return f"sh step.sh {number}" if self.leaves_traces else "true"


def ordered() -> Order:
    work, steps, folder = sys.argv[1:]
    return order_for(work, int(steps), Path(folder))


def order_for(work: str, steps: int, folder: Path) -> Order:
    leaves_traces = (folder / "log").exists()
    if leaves_traces:
        (folder / "step.sh").write_text(STEP)
    return Order(work, steps, folder, leaves_traces)


def perform(work: Callable[[], object], package: str) -> None:
    """Answers how long it took in this process, everything that is imported and set up before not counted."""
    begin = time.perf_counter()
    work()
    _answer((time.perf_counter() - begin) * 1000, _with_children(os.getpid()), version(package))


def run(argv: Sequence[str], order: Order, said_version: str, more: Mapping[str, str] | None = None) -> None:
    """Answers how long a program took, its start and its end counted."""
    environ = {**os.environ, **(more or {})}
    output = order.folder / "output"
    begin = time.perf_counter()
    with output.open("wb") as file:
        process = subprocess.Popen(argv, cwd=order.folder, env=environ, stdout=file, stderr=subprocess.STDOUT)
        (order.folder / "pid").write_text(str(process.pid))
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _peak_mib(process.pid))
            time.sleep(0.002 if order.steps < 1000 else 0.02)
    milliseconds = (time.perf_counter() - begin) * 1000
    if process.returncode == -signal.SIGKILL and order.leaves_traces:
        return
    if process.returncode:
        sys.exit(f"{argv[0]} ended with {process.returncode}: {output.read_text(errors='replace')[-2000:]}")
    _answer(milliseconds, peak, said_version)


def _answer(milliseconds: float, peak: float, said_version: str) -> None:
    print(json.dumps({"milliseconds": milliseconds, "peak_mib": peak, "version": said_version}), flush=True)


def _with_children(pid: int) -> float:
    """A server that was started for the work belongs to what it costs."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return _peak_mib(pid) + sum(_with_children(int(child)) for child in children)


def _peak_mib(pid: int) -> float:
    """Not from getrusage, which counts what the parent had before it started this process."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
