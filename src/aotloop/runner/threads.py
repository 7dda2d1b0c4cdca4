"""Work that blocks is done in threads; whoever waits for it leaves only when it is over, cancelled or not."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_called_off: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("called_off", default=None)


async def in_thread(work: Callable[[], T], on_cancel: Callable[[], None] | None = None) -> T:
    """A cancellation goes on when the work has ended, which `on_cancel` or a look at `is_called_off` may hasten."""
    called_off = threading.Event()
    context = contextvars.copy_context()
    context.run(_called_off.set, called_off)
    done = asyncio.get_running_loop().run_in_executor(None, context.run, work)
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            called_off.set()
            if on_cancel is not None:
                on_cancel()
    if called_off.is_set():
        with contextlib.suppress(Exception):  # of what is no longer wanted
            done.result()
        raise asyncio.CancelledError
    return done.result()


def is_called_off() -> bool:
    """In such a thread: whether whoever waits for it was cancelled."""
    event = _called_off.get()
    return event is not None and event.is_set()
