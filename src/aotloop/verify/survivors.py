"""Only this module finds and kills what a check started: nothing outlives the check.

A process belongs to a check when it descends from the check's shell, is in the shell's session, or carries
the check's mark in its environment (Linux only; that finds daemons which left the session and lost their
parent). What cleared its environment, left the session *and* lost its parent cannot be told from anybody
else's process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL. A cancelled check has to be dead within a second."""

_ROUNDS = 10
_ROUND_SECONDS = 0.1
_POLL_SECONDS = 0.01


def anything_left(shell: subprocess.Popen[bytes], mark: str) -> bool:
    """After the shell has exited: cheap (about 10 µs a process on Linux) and without loading psutil."""
    return _group_lives(shell.pid) or any(True for _ in _marked(mark))


def kill_everything(shell: subprocess.Popen[bytes], mark: str) -> None:
    """SIGTERM for all, a grace they share, then SIGKILL until none is found (some may fork meanwhile)."""
    left = _survivors(shell, mark)
    _send(shell, left, signal.SIGTERM)
    _wait(shell, left, GRACE)
    quiet = False
    for _ in range(_ROUNDS):
        left = [process for process in {*left, *_survivors(shell, mark)} if _alive(process)]
        if left or shell.poll() is None:
            quiet = False
            _send(shell, left, signal.SIGKILL)
            _wait(shell, left, _ROUND_SECONDS)
        elif quiet:
            return
        else:
            # Look twice: for a moment within exec a process has no environment that could be read.
            quiet = True
            time.sleep(_POLL_SECONDS)


def _survivors(shell: subprocess.Popen[bytes], mark: str) -> list[psutil.Process]:
    """All living processes of the check except the shell itself, which only its Popen may reap."""
    import psutil  # noqa: PLC0415 - most checks leave nothing behind, and so never pay for loading it

    marked = set(_marked(mark))
    children: dict[int, list[psutil.Process]] = {}
    found: dict[int, psutil.Process] = {}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            children.setdefault(process.ppid(), []).append(process)
            if pid in marked or os.getsid(pid) == shell.pid:
                found[pid] = process
    parents = list(found)  # while it lives, the shell is one of them: it leads the session
    while parents:
        for child in children.pop(parents.pop(), []):
            if child.pid not in found:
                found[child.pid] = child
            parents.append(child.pid)
    return [process for pid, process in found.items() if pid not in {shell.pid, os.getpid()} and _alive(process)]


def _marked(mark: str) -> Iterator[int]:
    needle = mark.encode()
    with contextlib.suppress(FileNotFoundError):  # no /proc: not Linux
        for name in os.listdir("/proc"):  # noqa: PTH208 - names, not a Path for each of thousands of processes
            if name.isdigit():
                with contextlib.suppress(OSError):  # gone meanwhile, or another user's
                    if needle in Path("/proc", name, "environ").read_bytes():
                        yield int(name)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _send(shell: subprocess.Popen[bytes], processes: list[psutil.Process], number: signal.Signals) -> None:
    import psutil  # noqa: PLC0415 - see _survivors

    # The group in one call, so that a shell cannot start its next command between two of our signals.
    with contextlib.suppress(OSError):
        os.killpg(shell.pid, number)
    for process in processes:
        # psutil makes sure that the number has not been given to another process meanwhile.
        with contextlib.suppress(psutil.Error, OSError):
            process.send_signal(number)


def _wait(shell: subprocess.Popen[bytes], processes: list[psutil.Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while shell.poll() is None or any(_alive(process) for process in processes):
        if time.monotonic() >= deadline:
            return
        time.sleep(_POLL_SECONDS)


def _alive(process: psutil.Process) -> bool:
    import psutil  # noqa: PLC0415 - see _survivors

    try:
        # A zombie is dead; in a container whose first process does not reap, it stays in the table for ever.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
