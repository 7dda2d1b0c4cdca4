"""What the tests of checks share: programs in Python, and proof that a process is gone."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

PATIENCE = 10.0
"""Seconds; only ever used up by a test that fails."""

NOBODY = 65534


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
    assert eventually(lambda: file.exists() and file.read_text().endswith("\n")), (
        f"{file.name} was never written"
    )
    return int(file.read_text())


@pytest.fixture
def as_ordinary_user() -> Iterator[Path]:
    """A directory of a user whom permissions bind, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp()).resolve()
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        for path in folder.rglob("*"):
            path.chmod(0o700)
        shutil.rmtree(folder)
