"""Only this module finds and kills what an attempt or a check started: nothing outlives them.

A process belongs to one when it descends from its first process, is in its session, or carries its mark in the
environment (Linux only; that finds daemons which left the session and lost their parent). What cleared its environment,
left the session *and* lost its parent cannot be told from anybody else's process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

_ROUNDS = 10
_ROUND_SECONDS = 0.1
_POLL_SECONDS = 0.01


class Tree:
    """All processes of one attempt or check, whose first process is `leader` and leads its session; or, without a
    leader, of whoever carries the mark. Everything here blocks: not for the thread of an event loop.
    """

    def __init__(self, mark: str, leader: subprocess.Popen[bytes] | None = None, since: float | None = None) -> None:
        """`since`: when the leader was started, on the monotonic clock. A tree is asked right after it is made."""
        self._mark = mark.encode()
        self._leader = leader
        self._session = leader.pid if leader is not None else None
        self._is_young = since is not None and _numbers_cannot_have_gone_round(time.monotonic() - since)

    def anything_left(self) -> bool:
        """Cheap (about 20 µs for each process there is to look at, on Linux) and without loading psutil."""
        return self._leader_lives() or self._group_lives() or any(map(self._is_member, self._candidates()))

    def is_quickly_told(self) -> bool:
        """Whether `anything_left` has so little to look at that even an event loop can wait for it."""
        return self._session is not None and self._is_young

    def _candidates(self) -> list[int]:
        """Numbers are given out in turn: what the leader started has one of those given out after its own."""
        pids = list(_pids())
        if self._session is None or not self._is_young:
            return pids
        first, last = self._session, _last_pid()
        if first <= last:
            return [pid for pid in pids if first < pid <= last]
        return [pid for pid in pids if pid > first or pid <= last]

    def _is_member(self, pid: int) -> bool:
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if os.getsid(pid) == self._session:
                return True
        return _carries(pid, self._mark)

    def kill(self, grace: float, hurry: threading.Event | None = None) -> None:
        """SIGTERM for all, a grace they share and `hurry` cuts short, then SIGKILL until none is found."""
        left = self._members()
        self._send(left, signal.SIGTERM)
        self._wait(left, grace, hurry)
        quiet = False
        for _ in range(_ROUNDS):  # some may fork meanwhile
            left = [process for process in {*left, *self._members()} if _alive(process)]
            if left or self._leader_lives():
                quiet = False
                self._send(left, signal.SIGKILL)
                self._wait(left, _ROUND_SECONDS)
            elif quiet:
                return
            else:
                # Look twice: for a moment within exec a process has no environment that could be read.
                quiet = True
                time.sleep(_POLL_SECONDS)

    def _members(self) -> list[psutil.Process]:
        """The living ones except the leader, which only its Popen may reap, and except us and those who started us."""
        import psutil  # noqa: PLC0415 - most attempts leave nothing behind, and so never pay for loading it

        children: dict[int, list[psutil.Process]] = {}
        found: dict[int, psutil.Process] = {}
        for pid in psutil.pids():
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(pid)
                children.setdefault(process.ppid(), []).append(process)
                if self._is_member(pid):
                    found[pid] = process
        spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        parents = [pid for pid in found if pid not in spared]  # while it lives, the leader is one of them
        while parents:
            for child in children.pop(parents.pop(), []):
                found.setdefault(child.pid, child)
                parents.append(child.pid)
        spared.add(self._session or 0)
        return [process for pid, process in found.items() if pid not in spared and _alive(process)]

    def _leader_lives(self) -> bool:
        return self._leader is not None and self._leader.poll() is None

    def _group_lives(self) -> bool:
        if self._session is None:
            return False
        try:
            os.killpg(self._session, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _send(self, processes: Iterable[psutil.Process], number: signal.Signals) -> None:
        import psutil  # noqa: PLC0415 - see _members

        # The group in one call, so that a shell cannot start its next command between two of our signals.
        if self._session is not None:
            with contextlib.suppress(OSError):
                os.killpg(self._session, number)
        for process in processes:
            # psutil makes sure that the number has not been given to another process meanwhile.
            with contextlib.suppress(psutil.Error, OSError):
                process.send_signal(number)

    def _wait(self, processes: list[psutil.Process], seconds: float, hurry: threading.Event | None = None) -> None:
        deadline = time.monotonic() + seconds
        while self._leader_lives() or any(_alive(process) for process in processes):
            if time.monotonic() >= deadline or (hurry is not None and hurry.is_set()):
                return
            time.sleep(_POLL_SECONDS)


def kill_orphans(run_id: str, grace: float = 0.5) -> None:
    """Ends what a run left behind that died itself. Its agents are known by AOT_RUN_ID."""
    tree = Tree(f"AOT_RUN_ID={run_id}\0")
    if tree.anything_left():
        tree.kill(grace)


def _pids() -> Iterator[int]:
    with contextlib.suppress(FileNotFoundError):  # no /proc: not Linux
        for name in os.listdir("/proc"):  # noqa: PTH208 - names, not a Path for each of thousands of processes
            if name.isdigit():
                yield int(name)


_FORKS_PER_SECOND = 50_000
"""More than any core can do."""


def _numbers_cannot_have_gone_round(seconds: float) -> bool:
    try:
        highest = int(Path("/proc/sys/kernel/pid_max").read_bytes())
    except (OSError, ValueError):
        return False
    return (seconds + 0.01) * _FORKS_PER_SECOND * (os.cpu_count() or 1) < highest / 2


def _last_pid() -> int:
    """The number that was given out last."""
    return int(Path("/proc/loadavg").read_bytes().split()[-1])


def _carries(pid: int, mark: bytes) -> bool:
    with contextlib.suppress(OSError):
        return mark in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def _alive(process: psutil.Process) -> bool:
    import psutil  # noqa: PLC0415 - see Tree._members

    try:
        # A zombie is dead; in a container whose first process does not reap, it stays in the table for ever.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
