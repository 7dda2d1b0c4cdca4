"""Programs to run in checks, and proof that a process is gone."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import psutil

from tests.patience import until, written


def python(program: str) -> str:
    """A shell command that runs this Python program."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


def is_dead(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def has_ended(pid: int) -> bool:
    """A process that was killed takes a moment until it is gone; one that was not never is."""
    until(lambda: is_dead(pid))
    return True


def written_pid(file: Path) -> int:
    return int(written(file))
