"""The table of processes: numbers, parents, marks and signs of life, cheap enough to look at thousands of them.

On Linux it reads /proc and loads no library. Elsewhere psutil knows. When fifty agents have to die at once, fifty
searches through it would wait for each other: the first looks alone, those who ask meanwhile share the next look.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

OURS = b"AOT_"
"""All marks begin so: the environment of a process without it is not kept."""


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


class Look:
    def __init__(self, since: Collection[int]) -> None:
        """Only processes whose numbers were given out after one of these; 0: all."""
        pids = all_pids() or pids_by_psutil()
        first = min(since)
        if first and max(since) > last_pid():  # the numbers have begun again
            first = 0
        self.pids = [pid for pid in pids if pid > first]
        self.spared = {os.getpid(), *ancestors_of(os.getpid())}
        self._parents: dict[int, int] = {}
        self._sessions: dict[int, int] = {}
        self._marked: dict[int, bytes] = {}
        for pid in self.pids:
            self._parents[pid], self._sessions[pid], environ = facts_of(pid)
            if OURS in environ:
                self._marked[pid] = environ

    def group(self, session: int | None, mark: bytes | None) -> set[int]:
        """What is in this session or has this mark, with all that descends from it or from the session's leader."""
        found = {pid for pid, its in self._sessions.items() if its == session}
        if mark is not None:
            found |= {pid for pid, environ in self._marked.items() if mark in environ}
        if session is not None:
            found.add(session)
        return self._with_descendants(found - self.spared) - self.spared

    def _with_descendants(self, found: set[int]) -> set[int]:
        children: dict[int, list[int]] = {}
        for pid, parent in self._parents.items():
            children.setdefault(parent, []).append(pid)
        parents, found = list(found), set(found)
        while parents:
            below = children.pop(parents.pop(), [])
            found.update(below)
            parents += below
        return found


class _Wish:
    def __init__(self, since: int) -> None:
        self.since = since
        self.look: Look | None = None


class SharedLook:
    """Safe for any number of threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_looking = False
        self._wishes: list[_Wish] = []

    def look(self, since: int) -> Look:
        """It begins after this call, and has at least the processes after `since`."""
        wish = _Wish(since)
        with self._changed:
            self._wishes.append(wish)
            self._changed.wait_for(lambda: wish.look is not None or not self._is_looking)
            if wish.look is not None:
                return wish.look
            wishes, self._wishes, self._is_looking = self._wishes, [], True
        found = None
        try:
            found = Look([other.since for other in wishes])
        finally:
            with self._changed:
                self._is_looking = False
                if found is None:  # each of the others looks by itself
                    self._wishes += [other for other in wishes if other is not wish]
                for other in wishes:
                    other.look = found
                self._changed.notify_all()
        return found
