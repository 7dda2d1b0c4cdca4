"""Threads for blocking work; the waiting task continues only when the work has ended, cancelled or not."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from aotloop.process.cancellation import Cancellation, governing_cancellation

T = TypeVar("T")


async def in_thread(work: Callable[[], T], on_cancel: Callable[[], None] | None = None) -> T:
    """A cancellation continues after the end of the work; `on_cancel` or `is_called_off` may end the work earlier."""
    cancellation = Cancellation()

    def under_cancellation() -> T:
        with cancellation.governing():
            return work()

    done = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, under_cancellation)
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError:
            cancellation.cancel()
            if on_cancel is not None:
                on_cancel()
    if cancellation.cancelled:
        with contextlib.suppress(Exception):  # the work is no longer wanted
            done.result()
        raise asyncio.CancelledError
    return done.result()


def is_called_off() -> bool:
    """In such a thread: whether the waiting task was cancelled."""
    cancellation = governing_cancellation()
    return cancellation is not None and cancellation.cancelled


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def obeying_signals(heard: Callable[[int], object]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    if before[signal.SIGHUP] is signal.SIG_IGN:  # `nohup`: it outlives its terminal
        del before[signal.SIGHUP]
    for number in before:
        loop.add_signal_handler(number, heard, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
