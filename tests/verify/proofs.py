"""Programs to run in checks, and proof that a process is gone."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import psutil
from tests.patience import written


def python(program: str) -> str:
    """A shell command that runs this Python program."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


def is_dead(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def written_pid(file: Path) -> int:
    return int(written(file))
