"""One `cancel()`, from any thread, ends everything that runs under it; nothing under it starts any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancellation:
    def __init__(self) -> None:
        # Re-entrant, because a signal handler may cancel in the very thread that is registering something.
        self._lock = threading.RLock()
        self._cancelled = False
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Returns at once; whoever runs something under this kills it in its own thread."""
        # The lock is kept during the calls: once `calling` has ended, its callback is certain not to run.
        with self._lock:
            self._cancelled = True
            for callback in list(self._callbacks.values()):
                callback()

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """While open, `cancel()` calls back; at once if it came first. The callback must not block."""
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
