"""A cancellation: one `cancel()`, from any thread, ends all work under it, and no new work starts under it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_STEP = 0.2


class Cancellation:
    def __init__(self) -> None:
        # Re-entrant, because a signal handler may cancel in the thread that is registering a callback.
        self._lock = threading.RLock()
        self._cancelled = False
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Returns at once. Each thread that runs work under this kills it itself."""
        # The lock is held during the calls: after `calling` has ended, its callback cannot run.
        with self._lock:
            self._cancelled = True
            for callback in list(self._callbacks.values()):
                callback()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """While open, `cancel()` calls back; at once if it was called before. The callback must not block."""
        key = object()
        with self._lock:
            self._callbacks[key] = callback
            if self._cancelled:
                callback()
        try:
            yield
        finally:
            with self._lock:
                del self._callbacks[key]

    @contextmanager
    def descriptor(self) -> Iterator[int]:
        """A descriptor that becomes readable after a cancellation, so that one wait serves several events."""
        woken, wake = os.pipe()
        try:
            with self.calling(lambda: _poke(wake)):
                yield woken
        finally:
            os.close(woken)
            os.close(wake)

    @contextmanager
    def governing(self) -> Iterator[None]:
        """While open, `governing_cancellation()` in this thread or context returns this object."""
        token = _governing.set(self)
        try:
            yield
        finally:
            _governing.reset(token)


_governing: ContextVar[Cancellation | None] = ContextVar("governing", default=None)


def governing_cancellation() -> Cancellation | None:
    """For work that gets no cancellation from its callers; None: nothing cancels it."""
    return _governing.get()


def _poke(descriptor: int) -> None:
    os.write(descriptor, b"!")


@contextmanager
def undisturbed() -> Iterator[None]:
    """Another Ctrl-C changes nothing here: the run ends already, and it needs a moment to leave nothing behind."""
    before = {
        number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def sleep_until_interrupted() -> None:
    """Returns never: a signal raises. In short steps, because a signal just before a long sleep would not end it."""
    while True:
        time.sleep(_STEP)
