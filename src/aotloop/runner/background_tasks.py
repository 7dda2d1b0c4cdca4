"""Background tasks: all slow work is a task with a name, in one group; its reports go into the queue of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Literal

from aotloop.runner.ledger import Item

Kind = Literal["attempt", "merge", "wait", "check", "verify", "revert"]
Name = tuple[Kind, str | int]


class BackgroundTasks:
    def __init__(self, group: asyncio.TaskGroup, put: Callable[[Item], None]) -> None:
        self._group = group
        self._put = put
        self._named: dict[Name, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        """Cancelled, and not yet over: processes have to end first."""

    def start(self, name: Name, work: Coroutine[Any, Any, Iterable[Item]]) -> None:
        task = self._group.create_task(self._report(work))
        self._named[name] = task
        task.add_done_callback(lambda _: self._forget(name, task))

    def cancel(self, name: Name, grace: float | None = None) -> None:
        """`grace`: seconds until the second cancellation, which ends the grace of its processes."""
        task = self._named.pop(name, None)
        if task is not None and not task.done():
            self._ending.add(task)
            task.cancel()
            if grace is not None:
                asyncio.get_running_loop().call_later(grace, task.cancel)

    async def end(self) -> None:
        """Cancels the remaining tasks, but no revert: half a revert is worse than none. Returns when all are over."""
        for name in list(self._named):
            if name[0] != "revert":
                self.cancel(name)
        while left := [*self._named.values(), *self._ending]:
            with suppress(asyncio.CancelledError):
                await asyncio.wait(left)

    def hurry(self) -> None:
        """Tasks that are being cancelled give no more grace."""
        for task in self._ending:
            task.cancel()

    async def _report(self, work: Coroutine[Any, Any, Iterable[Item]]) -> None:
        for item in await work:
            self._put(item)

    def _forget(self, name: Name, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if self._named.get(name) is task:
            del self._named[name]
