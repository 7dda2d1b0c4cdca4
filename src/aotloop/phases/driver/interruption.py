"""Ends a turn early: after a signal, after a person's decision in the file, or when another driver has the loop.

A signal is written to the file before any work is ended. So a claim that is being checked then finds the loop stopped,
and does not count.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.execution.threads import obeying_signals
from aotloop.phases.driver.claims import Claims
from aotloop.phases.project import Project

INTERRUPTED = "user: interrupted"
_GLANCE = 0.05
"""Seconds between two looks at the file."""
_RENEWED = 3.0
"""Seconds between two looks whether the lease is still there."""


def is_ours(loop: PhaseLoop) -> bool:
    """Whether the loop is to be driven from outside of any session, and now."""
    return loop.status == "running" and loop.session_id is None


def is_taken_from_us(loop: PhaseLoop) -> bool:
    """Whether a person or a session has taken it. The caller knows an end that our own claims caused."""
    is_stopped = loop.status == "stopped" and (loop.stop_reason or "").startswith("user:")
    return is_stopped or loop.status == "cancelled" or loop.session_id is not None


class Interruptions:
    def __init__(self, project: Project, claims: Claims, renew: Callable[[], None]) -> None:
        self._project = project
        self._claims = claims
        self._renew = renew
        self.signal: int | None = None
        """The signal that interrupted the run."""
        self._lost: AotError | None = None
        """Why the loop is not ours to run any more."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs until the work is over, or the loop is no longer ours. All its processes have ended by then."""
        asyncio.run(self._guarded(work))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        with obeying_signals(partial(self._interrupt, task)):
            watcher = asyncio.get_running_loop().create_task(self._watch(task))
            try:
                await asyncio.wait([task])
            finally:
                watcher.cancel()
        if self._lost is not None:
            raise self._lost
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not (isinstance(error, AotError) and not is_ours(self._claims.loop)):
            raise error

    async def _watch(self, task: asyncio.Task[None]) -> None:
        seen, renewed = None, time.monotonic()
        while True:
            await asyncio.sleep(_GLANCE)
            if (signature := self._signature()) != seen:
                seen = signature
                if self._is_taken():
                    task.cancel()
                    return
            if time.monotonic() > renewed + _RENEWED:
                renewed = time.monotonic()
                try:
                    self._renew()
                except AotError as error:  # the lease was removed, and another run was faster
                    self._lost = error
                    task.cancel()
                    return

    def _is_taken(self) -> bool:
        """A file with a person's mistake in it is read again when it has changed."""
        with suppress(AotError):
            return is_taken_from_us(self._claims.loop)
        return False

    def _signature(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            found = os.stat(self._project.store.path)  # noqa: PTH116 - many times a second
            return found.st_ino, found.st_mtime_ns, found.st_size
        return None

    # --- signals -------------------------------------------------------------------------------------------------

    def _interrupt(self, task: asyncio.Task[None], number: int) -> None:
        """First signal: an orderly end. Second signal: an immediate end, without grace."""
        self.note(number)
        task.cancel()

    def note(self, number: int) -> None:
        if self.signal is None:
            self.signal = number
            with suppress(AotError, OSError):  # a failed write is no reason to go on
                self._claims.stop(INTERRUPTED)

    # --- for work that we cannot cancel --------------------------------------------------------------------------

    @contextmanager
    def watching(self, look: Callable[[PhaseLoop], None]) -> Iterator[None]:
        """Meanwhile a thread calls `look` again and again with the present loop."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_GLANCE * 4):
                with suppress(AotError, OSError):
                    look(self._claims.loop)

        thread = threading.Thread(target=watch, name="aot-phases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
