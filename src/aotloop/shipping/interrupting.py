"""What ends a turn before it is over: a signal, a person's word in the file, or somebody else who drives the loop now.

A signal is written down before anything is ended by it: whatever is being looked into then finds the loop stopped, and
counts for nothing.
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
from aotloop.phases.ground import Ground
from aotloop.runner.signals import obeying_signals
from aotloop.runner.watching import GLANCE
from aotloop.shipping.claims import Claims

INTERRUPTED = "user: interrupted"
_RENEWED = 3.0
"""Seconds between two looks whether the lease is still there."""


def is_ours(loop: PhaseLoop) -> bool:
    """To be driven from outside of any session, and now."""
    return loop.status == "running" and loop.session_id is None


def is_taken_from_us(loop: PhaseLoop) -> bool:
    """By a person or a session. Where our own claims have ended it, whoever made them knows."""
    is_stopped = loop.status == "stopped" and (loop.stop_reason or "").startswith("user:")
    return is_stopped or loop.status == "cancelled" or loop.session_id is not None


class Interruptions:
    def __init__(self, ground: Ground, claims: Claims, renew: Callable[[], None]) -> None:
        self._ground = ground
        self._claims = claims
        self._renew = renew
        self.signal: int | None = None
        """What interrupted the run."""
        self._lost: AotError | None = None
        """Why the loop is not ours to run any more."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Until it is over, or the loop is no longer ours; whatever it had started has ended by then."""
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
            await asyncio.sleep(GLANCE)
            if (signature := self._signature()) != seen:
                seen = signature
                if self._is_taken():
                    task.cancel()
                    return
            if time.monotonic() > renewed + _RENEWED:
                renewed = time.monotonic()
                try:
                    self._renew()
                except AotError as error:  # somebody tidied up, and another run was faster
                    self._lost = error
                    task.cancel()
                    return

    def _is_taken(self) -> bool:
        """A file that a person left with a mistake in it is looked at again when it has changed."""
        with suppress(AotError):
            return is_taken_from_us(self._claims.loop)
        return False

    def _signature(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            found = os.stat(self._ground.store.path)  # noqa: PTH116 - many times a second
            return found.st_ino, found.st_mtime_ns, found.st_size
        return None

    # --- signals -------------------------------------------------------------------------------------------------

    def _interrupt(self, task: asyncio.Task[None], number: int) -> None:
        """Once: an orderly end. Twice: at once, for what is being ended gives no more grace."""
        self.note(number)
        task.cancel()

    def note(self, number: int) -> None:
        if self.signal is None:
            self.signal = number
            with suppress(AotError, OSError):  # what cannot be written down is no reason to go on
                self._claims.stop(INTERRUPTED)

    # --- for work that is not ours to cancel ---------------------------------------------------------------------

    @contextmanager
    def watching(self, look: Callable[[PhaseLoop], None]) -> Iterator[None]:
        """Meanwhile `look` is called, in a thread, again and again with the loop as it is."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(GLANCE * 4):
                with suppress(AotError, OSError):
                    look(self._claims.loop)

        thread = threading.Thread(target=watch, name="aot-phases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
