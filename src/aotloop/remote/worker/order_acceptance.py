"""What a worker accepts, by its own configuration, and never twice.

The seal shows that a holder of the key wrote an order, and not when, or for which task. So an order says its own id and
how long it counts, and a worker remembers what it has carried out: a server that repeats an old order is refused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from aotloop.clock import unix_time
from aotloop.remote.wire import AttemptOrder, CommitCheckOrder
from aotloop.remote.worker.worker_storage import free_space

_LONG_AGO = 8 * 24 * 3600.0
"""Seconds. No order counts for so long."""


class Acceptance:
    def __init__(self, home: Path, *, repositories: tuple[str, ...], agents: tuple[str, ...], least: int) -> None:
        """`least`: MiB on the disk below which nothing is accepted."""
        self._home = home
        self._repositories = repositories
        self._agents = agents
        self._least = least

    def refusal(self, order: AttemptOrder | CommitCheckOrder, name: str) -> str | None:
        """Why this worker will never carry it out. `name`: the id of the activity that brought it."""
        if order.id != name:
            return "it was written for another task"
        if order.repository not in self._repositories:
            return f"its configuration does not name the repository {order.repository} ([worker.repositories])"
        if isinstance(order, AttemptOrder) and order.agent not in self._agents:
            return f"its configuration does not name the agent {order.agent} (`agents` in [worker])"
        if unix_time() > order.expires > 0:
            return "the order is too old, or the clocks of the two machines differ"
        return None if self._is_first(order) else "the same order was carried out before"

    def hindrance(self) -> str | None:
        """Why nothing can be accepted now."""
        return "the disk is nearly full" if free_space(self._home) < self._least else None

    def _is_first(self, order: AttemptOrder | CommitCheckOrder) -> bool:
        file = self._home / "orders" / sha256(order.id.encode()).hexdigest()[:32]
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        except OSError:  # a full disk: then its age alone counts
            return True
        return True


def forget_old_orders(home: Path) -> None:
    """Those that would be refused for their age."""
    before = unix_time() - _LONG_AGO
    with suppress(OSError):
        for file in (home / "orders").iterdir():
            with suppress(OSError):
                if file.stat().st_mtime < before:
                    file.unlink()
