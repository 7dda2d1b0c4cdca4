"""Programs to run in checks, and proof that a process is gone."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

PATIENCE = 10.0
"""Seconds; only ever used up by a test that fails."""


def python(program: str) -> str:
    """A shell command that runs this Python program."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_dead(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def written_pid(file: Path) -> int:
    assert eventually(lambda: file.exists() and file.read_text().endswith("\n")), f"{file.name} was never written"
    return int(file.read_text())
