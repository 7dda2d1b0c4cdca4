"""The process group: everything that a process started. Only this module finds and kills it.

So nothing outlives an attempt or a check. A process belongs to the group if it descends from the leader, is in its
session, or has its mark in the environment (Linux only; that finds daemons that left the session and lost their
parent). A process that cleared its environment, left the session *and* lost its parent looks like a foreign process;
only a guard (see sandbox.enclosure) ends that one, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from aotloop.process.environment import REAPER_MARK
from aotloop.process.process_table import (
    SharedLook,
    all_pids,
    carries,
    is_alive,
    last_pid,
    numbers_cannot_have_gone_round,
    parent_of,
    process_of,
)
from aotloop.process.sandbox.enclosure import Guard
from aotloop.process.sandbox.fork_server import dismiss
from aotloop.process.sandbox.reaper_client import Reaper
from aotloop.process.spawn import Process

if TYPE_CHECKING:
    import psutil

_ROUNDS = 10
_ROUND_SECONDS = 0.1
_POLL_SECONDS = 0.01
_LOOKS = SharedLook()
_GUARD_SECONDS = 5.0
"""The longest time in which a guard ends everything; usually it needs milliseconds."""


class Leader(Protocol):
    """The first process. Only `poll` may reap it."""

    pid: int

    def poll(self) -> int | None: ...


class ProcessGroup:
    """Everything that `leader` started; the leader leads its session. Without a leader, every process with this mark.

    All methods block: they are not for the thread of an event loop.
    """

    def __init__(
        self,
        mark: str | None,
        leader: Leader | None = None,
        since: float | None = None,
        guard: Guard | None = None,
    ) -> None:
        """`since`: the start of the leader on the monotonic clock. Use a group directly after creating it."""
        self._guard = guard
        self._mark = mark.encode() if mark else None
        self._leader = leader
        self._session = leader.pid if leader is not None else None
        self._is_young = since is not None and numbers_cannot_have_gone_round(time.monotonic() - since)

    def anything_left(self) -> bool:
        """Cheap (about 20 µs for each examined process, on Linux) and without loading psutil. A reaper knows it."""
        if self._is_known_to_be_empty():
            return False
        return self._leader_lives() or self._group_lives() or any(map(self._is_member, self._candidates(all_pids())))

    def _is_known_to_be_empty(self) -> bool:
        return self._guard is not None and not self._leader_lives() and self._guard.is_empty()

    def ends_by_itself(self) -> bool:
        """Whether the kernel is ending what is left."""
        is_over = self._guard is not None and self._guard.is_namespace and not self._leader_lives()
        return is_over and not self._is_known_to_be_empty()

    def is_quickly_told(self) -> bool:
        """Whether `anything_left` examines so few processes that even an event loop can wait for it."""
        return self._session is not None and self._is_young

    def _candidates(self, pids: list[int]) -> list[int]:
        """Process numbers increase: all processes of the leader have a number after the leader's own."""
        if self._session is None or not self._is_young:
            return pids
        first, last = self._session, last_pid()
        if first <= last:
            return [pid for pid in pids if first < pid <= last]
        return [pid for pid in pids if pid > first or pid <= last]

    def _is_member(self, pid: int) -> bool:
        with contextlib.suppress(OSError):  # ended meanwhile, or of another user
            if os.getsid(pid) == self._session:
                return True
        return self._mark is not None and carries(pid, self._mark)

    def kill(self, grace: float, hurry: threading.Event | None = None) -> None:
        """SIGTERM to all, one shared grace period that `hurry` can shorten, then SIGKILL until none is found."""
        left = self._members()
        self._ask(left)
        are_dead = self._are_dead(left, grace, hurry)
        # A reaper ends its processes before we kill its group: others may have been started in place of the dead.
        if self._guard is not None and (not are_dead or isinstance(self._guard, Reaper)):
            self._end_by(self._guard)
        if not are_dead:
            self._send(left, signal.SIGKILL)  # first the processes that we know already
        quiet = False
        for _ in range(_ROUNDS):  # some may fork meanwhile
            left = [process for process in {*left, *self._members()} if is_alive(process)]
            if left or self._leader_lives():
                quiet = False
                self._send(left, signal.SIGKILL)
                self._are_dead(left, _ROUND_SECONDS)
            elif quiet:
                return
            else:
                # Look twice: for a moment during exec a process has no readable environment.
                quiet = True
                time.sleep(_POLL_SECONDS)

    def _ask(self, members: list[psutil.Process]) -> None:
        """Bubblewrap itself is not asked: it would end at once, and with it all others, without grace."""
        if self._guard is None or not self._guard.is_namespace:
            self._send(members, signal.SIGTERM)
            return
        import psutil  # noqa: PLC0415 - see process_table.process_of

        for process in members:
            with contextlib.suppress(psutil.Error, OSError):
                if process.ppid() != self._session:  # the first process of the namespace
                    process.send_signal(signal.SIGTERM)

    def _end_by(self, guard: Guard) -> None:
        """When the leader has ended, none of its processes is left."""
        if guard.is_namespace:
            for pid in self._candidates(all_pids()):
                if parent_of(pid) == self._session:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
        guard.end()
        deadline = time.monotonic() + _GUARD_SECONDS
        while (self._leader_lives() or self._is_guarded()) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def _is_guarded(self) -> bool:
        return isinstance(self._leader, Process) and self._leader.is_guarded()

    def _members(self) -> list[psutil.Process]:
        """The living members, except the leader, which `poll` reaps, and except us and our ancestors.

        A process that does not belong to the group costs only one look.
        """
        since = self._session if self._session is not None and self._is_young else 0
        found = _LOOKS.look(since).group(self._session, self._mark)
        processes = (process_of(pid) for pid in found - {self._session})
        return [process for process in processes if process is not None and is_alive(process)]

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
        import psutil  # noqa: PLC0415 - see process_table.process_of

        # One call for the group, so that a shell cannot start its next command between two signals.
        if self._session is not None:
            with contextlib.suppress(OSError):
                os.killpg(self._session, number)
        for process in processes:
            # psutil checks that the number does not belong to a new process.
            with contextlib.suppress(psutil.Error, OSError):
                process.send_signal(number)

    def _are_dead(self, processes: list[psutil.Process], within: float, hurry: threading.Event | None = None) -> bool:
        """Waits up to `within` seconds until all are dead."""
        deadline = time.monotonic() + within
        while self._leader_lives() or any(is_alive(process) for process in processes):
            if time.monotonic() >= deadline or (hurry is not None and hurry.is_set()):
                return False
            time.sleep(_POLL_SECONDS)
        return True


def kill_orphans(run_id: str, grace: float = 0.5) -> bool:
    """Ends the processes of a dead run, found by AOT_RUN_ID; returns whether there were any."""
    group = ProcessGroup(f"AOT_RUN_ID={run_id}\0")
    is_any = group.anything_left()
    if is_any:
        group.kill(grace)
    dismiss(run_id)
    # A reaper of a dead run is killing what has no mark any more. It needs no help, only a moment.
    reapers = ProcessGroup(f"{REAPER_MARK}={run_id}\0")
    deadline = time.monotonic() + _GUARD_SECONDS
    while reapers.anything_left() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return is_any


def end_group(leader: Process, grace: float) -> None:
    """Ends the leader and its process group, but no process that has left that group."""
    _end(leader, grace, lambda number: os.killpg(leader.pid, number))


def end_process(leader: Process, grace: float) -> None:
    """Ends only this process."""
    _end(leader, grace, leader.send)


def _end(leader: Process, grace: float, send: Callable[[signal.Signals], None]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if grace > 0 and leader.poll() is None:
            send(signal.SIGTERM)
            leader.wait(grace)
        send(signal.SIGKILL)
    leader.wait()
