"""The store of the process that runs a loop: an update is one append to the redo log; the file follows soon.

The file gets everything when nothing happens for a moment, at the latest after `LATEST` seconds, and at the end. The
moment is the longer the more a replacement costs. Every other process sees all updates: `Store` reads the log, and a
writer puts it into the file, under the same lock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from aotloop.core.model import Loop
from aotloop.errors import StateFileError, Unavailable
from aotloop.statefile import durable
from aotloop.statefile.exchange import contents, facts, is_telling
from aotloop.statefile.redo_log import RedoLog
from aotloop.statefile.splices import Splice
from aotloop.statefile.store import Store

if TYPE_CHECKING:
    from aotloop.statefile.document import Document

T = TypeVar("T")

LATEST = 0.15
"""Seconds until the file has everything. A reader of it alone must not be 0.2 s behind, also on a busy machine."""

QUIET = 0.02
"""The fewest seconds without an update."""

SHARE = 20
"""A large file is replaced less often: the replacements of a busy run take at most this part of its time."""

MOST_LOGGED = 8 << 20
"""Bytes."""


def due(first: float, last: float, cost: float) -> float:
    """When the file is replaced. `first`, `last`: the times of updates that are not in it.

    A slow disk gets a head start, but at least half of the time remains for updates.
    """
    return min(first + max(LATEST - cost, LATEST / 2), last + max(QUIET, SHARE * cost))


class LoggedStore(Store):
    """One for each file and process. Use it in a `with` statement: at its end the file has everything."""

    def __init__(self, path: str, *, patience: float = durable.LOCK_PATIENCE, after: Store | None = None) -> None:
        """`after`: a store of the same file; what it has read is not read again."""
        super().__init__(path, patience=patience)
        if after is not None and after.path == self.path:
            self._loaded, after._loaded = after._loaded, None  # noqa: SLF001 - of the same family
        self._log = RedoLog(self.path)
        self._mutex = threading.Condition()
        self._first, self._last = 0.0, 0.0
        """The times of the first and of the last update that are not in the file."""
        self._cost = 0.0
        """Seconds that the last replacement of the file took."""
        self._is_closed = False
        self._settler: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._mutex:
            self._is_closed = True
            self._mutex.notify_all()
        if self._settler is not None:
            self._settler.join()
        try:
            with self._mutex:
                self._settle()
                if self._log.size:  # the last update failed
                    super().exchange(lambda found: (found, None))
                with durable.locked(self.path, patience=self._patience):
                    self._log.close()
        except (StateFileError, Unavailable, OSError):  # what is in the log stays there
            if error is None and os.path.lexists(self.path):
                raise
        if not os.path.lexists(self.path):  # a person has deleted it, and with it all that the log adds to it
            with suppress(OSError):
                self._log.close()

    def exchange(self, change: Callable[[Loop], tuple[Loop, T]]) -> T:
        with self._mutex:
            return super().exchange(change)

    def _exchange(self, change: Callable[[Loop], tuple[Loop, T]]) -> T:
        if self._known is None or self.signature_now() != self._signature:
            return self._rewrite(change)
        on_disk, document = self._known
        new, result = change(document.current)
        self._known = None  # the document may be newer than the log until it is written
        splices = document.splices_to(new)
        if splices == [] or (splices and self._is_logged(splices, on_disk)):
            self._known = (on_disk, document)
        elif not self._is_replaced(on_disk, document):
            return self._rewrite(change)
        return result

    def _rewrite(self, change: Callable[[Loop], tuple[Loop, T]]) -> T:
        """As every other process does it: also what others have changed is read."""
        result = super()._exchange(change)
        self._log.clear()
        return result

    def _document(self, data: bytes) -> Document:
        if self._known is not None and self._known[1].data == data:  # another process has put the log into the file
            return self._known[1]
        document = super()._document(data)
        document.is_kept = True
        return document

    def _is_logged(self, splices: list[Splice], on_disk: bytes) -> bool:
        """False: the file itself has to be written now."""
        now = time.monotonic()
        if self._log.size > MOST_LOGGED or (self._log.size and now - self._first > LATEST):
            return False
        try:
            is_first = not self._log.size
            self._log.append(splices, on_disk)
        except OSError:  # the disk is full, or another process has removed the log
            return False
        self._last = now
        if is_first:
            self._first = now
            self._begin_to_follow()
        return True

    def _is_replaced(self, on_disk: bytes, document: Document) -> bool:
        """False: a person has changed the file meanwhile."""
        began = time.monotonic()
        data = document.data
        written = durable.replace(self.path, data, lambda: self._is_untouched(on_disk))
        if written is not None:
            self._note(data, document, facts(written))
            self._log.clear()
        self._cost = time.monotonic() - began
        return written is not None

    def _is_untouched(self, on_disk: bytes) -> bool:
        signature = self._signature
        if signature is None or self.signature_now() != signature:
            return False
        return is_telling(signature) or contents(self.path)[0] == on_disk

    # --- the file follows ----------------------------------------------------------------------------------------

    def _begin_to_follow(self) -> None:
        if self._settler is None:
            self._settler = threading.Thread(target=self._follow, name="aot-settler", daemon=True)
            self._settler.start()
        self._mutex.notify_all()

    def _follow(self) -> None:
        with self._mutex:
            while not self._is_closed:
                if not self._log.size:
                    self._mutex.wait()
                    continue
                pause = due(self._first, self._last, self._cost) - time.monotonic()
                if pause > 0:
                    self._mutex.wait(pause)
                    continue
                with suppress(StateFileError, Unavailable, OSError):  # all of it is in the log
                    self._settle()
                if self._log.size:  # a person has changed the file, or the disk is full; the next update deals with it
                    self._mutex.wait(LATEST)

    def _settle(self) -> None:
        if not self._log.size or self._known is None:
            return
        with durable.locked(self.path, patience=self._patience):
            if self.signature_now() == self._signature:
                self._is_replaced(*self._known)

    def has_changed(self) -> bool:
        """While the file is being written, its content is unknown."""
        if not self._mutex.acquire(blocking=False):
            return False
        try:
            return super().has_changed()
        finally:
            self._mutex.release()
