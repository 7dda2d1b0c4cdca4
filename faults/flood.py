"""A flood: an agent, and a check, that print without end; measures the run's memory and the kept output."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.loops import atom
from tests.runner.projects import a_project
from tests.warm import COMMAND

_MEGABYTE = 1 << 20
_MOST_MEMORY = 64
"""Megabytes that a flood may cost."""


@dataclass(frozen=True)
class Flood:
    """In megabytes, and seconds."""

    memory: float
    kept: float
    printed: float
    seconds: float


def flood(folder: Path, megabytes: int, environ: dict[str, str] | None = None) -> Flood:
    """A run of one atom that prints so many megabytes; its check and the base case print a quarter of that."""
    prints = "yes 'a line of some length' | head -c {}M"
    project = a_project(
        folder,
        atom("A1", run=f"{prints.format(megabytes)}; echo a > a"),
        base_case=f"{prints.format(megabytes // 4)}; test -f a",
        environ=environ,
    )
    began = time.monotonic()
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [COMMAND, "run", "--yes"],
            cwd=project.root,
            env={**os.environ, **project.environ},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        memory = _highest_memory(process)
    if process.returncode != 0:
        raise AssertionError(f"exit {process.returncode}: {(folder / 'output').read_text()[-500:]}")
    kept = sum(path.stat().st_size for path in (project.root / ".aot").rglob("*") if path.is_file())
    printed = (folder / "output").stat().st_size
    return Flood(memory, kept / _MEGABYTE, printed / _MEGABYTE, time.monotonic() - began)


def _highest_memory(process: subprocess.Popen[bytes]) -> float:
    """When it has ended."""
    highest = 0
    while process.poll() is None:
        with suppress(OSError):
            found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
            highest = max(highest, int(found[1]) if found is not None else 0)
        time.sleep(0.02)
    return highest / 1024


def report(top: Path, environ_in: Callable[[Path], dict[str, str]]) -> int:
    """A table of nothing, much, and very much; 1 if memory grows with it."""
    print(f"{'printed':>10}{'memory':>12}{'journal':>12}{'on screen':>12}{'seconds':>10}")
    found = []
    for megabytes in (0, 200, 1024):
        folder = top / str(megabytes)
        folder.mkdir()
        one = flood(folder, megabytes, environ_in(folder / "home"))
        found.append(one.memory)
        print(
            f"{megabytes:7} MB{one.memory:9.1f} MB{one.kept:9.1f} MB{one.printed:9.1f} MB{one.seconds:10.1f}",
            flush=True,
        )
    return 0 if max(found) < found[0] + _MOST_MEMORY else 1
