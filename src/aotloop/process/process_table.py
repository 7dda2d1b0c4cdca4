"""The table of processes: numbers, parents, marks and signs of life, cheap enough to look at thousands of them.

On Linux it reads /proc and loads no library. Elsewhere psutil knows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def ancestors_of(pid: int) -> Iterator[int]:
    seen = {-1, 0}
    while (pid := parent_of(pid)) not in seen:
        seen.add(pid)
        yield pid


def parent_of(pid: int) -> int:
    """The parent's number; -1: the process is gone."""
    if facts := _facts(pid):
        return int(facts[1])
    import psutil  # noqa: PLC0415 - see process_of

    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).ppid()
    return -1


def has_ended(pid: int) -> bool:
    """Whether it is known that the process is gone, or only waits to be reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    facts = _facts(pid)
    return bool(facts) and facts[0] in _ENDED


def facts_of(pid: int) -> tuple[int, int, bytes]:
    """Parent, session and environment, as far as they are known to us."""
    environ = _read(f"/proc/{pid}/environ")
    if facts := _facts(pid):
        return int(facts[1]), int(facts[3]), environ
    with contextlib.suppress(OSError):  # it has ended, or is another user's
        return parent_of(pid), os.getsid(pid), environ
    return -1, -1, environ


def process_of(pid: int) -> psutil.Process | None:
    import psutil  # noqa: PLC0415 - most attempts leave nothing behind, and so never pay for loading it

    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid)
    return None


def all_pids() -> list[int]:
    """All process numbers; empty without /proc (not Linux)."""
    with contextlib.suppress(FileNotFoundError):
        # Names, not a Path for each of thousands of processes.
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return []


def pids_by_psutil() -> list[int]:
    import psutil  # noqa: PLC0415 - see process_of

    return psutil.pids()


_ENDED = (b"Z", b"X")
_FORKS_PER_SECOND = 50_000
"""More forks than any core can do."""


def numbers_cannot_have_gone_round(seconds: float) -> bool:
    return (seconds + 0.01) * _FORKS_PER_SECOND * (os.cpu_count() or 1) < _highest_pid() / 2


@cache
def _highest_pid() -> int:
    """0: unknown."""
    try:
        return int(Path("/proc/sys/kernel/pid_max").read_bytes())
    except (OSError, ValueError):
        return 0


def last_pid() -> int:
    """The most recent process number."""
    return int(Path("/proc/loadavg").read_bytes().split()[-1])


def carries(pid: int, mark: bytes) -> bool:
    return mark in _read(f"/proc/{pid}/environ")


def _facts(pid: int) -> list[bytes]:
    """State, parent, group and session; empty: the process is gone, or this is not Linux."""
    text = _read(f"/proc/{pid}/stat")
    return text[text.rindex(b")") + 1 :].split(None, 4)[:4] if text else []


def _read(path: str) -> bytes:
    """Empty if the file is missing or not readable for us. No buffers, because thousands of processes are examined."""
    parts = []
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while part := os.read(descriptor, 1 << 18):
                parts.append(part)
        finally:
            os.close(descriptor)
    return b"".join(parts)


def is_alive(process: psutil.Process) -> bool:
    import psutil  # noqa: PLC0415 - see process_of

    try:
        # A zombie is dead. In a container whose first process does not reap, it stays in the table forever.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
