"""One look at the table of processes, for all who want one at the same time.

When fifty agents have to die at once, fifty searches through the same table would wait for each other. Here the first
looks alone; those who ask meanwhile share the next look. Each gets a look that began after it had asked.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection

from aotloop.process.process_table import all_pids, ancestors_of, facts_of, last_pid, pids_by_psutil

OURS = b"AOT_"
"""All marks begin so: the environment of a process without it is not kept."""


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
