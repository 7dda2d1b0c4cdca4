"""The store of a loop: reads and changes one state file, also while other processes do so."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from aotloop.core.model import Loop
from aotloop.errors import StateFileError, StateFileMissing, Unavailable
from aotloop.statefile import durable
from aotloop.statefile.exchange import (
    MOST_RETRIES,
    TICK,
    Signature,
    contents,
    exchange,
    is_telling,
    naming,
    signature_of,
)
from aotloop.statefile.reader import Examination, decode, examine

if TYPE_CHECKING:
    from aotloop.statefile.document import Document

T = TypeVar("T")


class Store:
    def __init__(self, path: str, *, patience: float = durable.LOCK_PATIENCE) -> None:
        self.path = os.path.realpath(path)  # a symbolic link stays; its target is replaced
        self._link = path if os.path.islink(path) else None
        self._patience = patience
        self._known: tuple[bytes, Document] | None = None
        self._signature: Signature | None = None
        """The signature of the file after the last update."""
        self._left_at: float | None = None
        """The time of that update. None: a later change of the file is visible in its signature."""
        self._loaded: tuple[bytes, Loop] | None = None
        """What was read last. A command reads its file several times, and it is seldom another one."""
        self._is_behind = False
        """The log had more than the file when they were read."""

    def load(self) -> Loop:
        with naming(self.path):
            data = self._read()[0]
            if self._loaded is None or self._loaded[0] != data:
                self._loaded = None  # not both at once: they may be large
                self._loaded = (data, decode(data))
            return self._loaded[1].snapshot()

    def examine(self) -> Examination:
        return examine(self._read()[0])

    def update(self, change: Callable[[Loop], T]) -> T:
        """Applies `change` to the present loop and writes the result; returns the result of `change`.

        `change` may run more than once: a person's editor does not take our lock. If the file changes between our
        reading and our writing, it is read again, and `change` is applied to the new content. If `change` raises,
        nothing is written.
        """

        def changed(found: Loop) -> tuple[Loop, T]:
            loop = found.snapshot()
            return loop, change(loop)

        return self.exchange(changed)

    def exchange(self, change: Callable[[Loop], tuple[Loop, T]]) -> T:
        """As `update`, for large loops: `change` does not change the loop that it gets, and returns another one."""
        with durable.locked(self.path, patience=self._patience), naming(self.path):
            return self._exchange(change)

    def _exchange(self, change: Callable[[Loop], tuple[Loop, T]]) -> T:
        """Called under the lock."""

        def revise(data: bytes) -> tuple[bytes, tuple[Document, T]]:
            document = self._document(data)
            new, result = change(document.current)
            self._known = None  # the document may be newer than the file until it is written
            return document.revise(new), (document, result)

        done = exchange(self.path, self._read, revise, lambda: self._is_behind)
        document, result = done.result
        self._note(done.data, document, done.signature)
        durable.discard_log(self.path)
        return result

    def _note(self, data: bytes, document: Document, signature: Signature) -> None:
        self._known, self._signature, self._left_at = (data, document), signature, time.monotonic()

    @property
    def last_written(self) -> Loop | None:
        """The loop of the last update; it is not to be changed."""
        return self._known[1].current if self._known is not None else None

    @property
    def is_unusual(self) -> bool:
        """Whether the file needs the careful reader, so that its updates take longer."""
        return self._known is not None and self._known[1].is_unusual

    def create(
        self, data: bytes, *, overwrite: bool = False, before_writing: Callable[[], None] = lambda: None
    ) -> None:
        """Writes a new file after checking that it can be read.

        `before_writing` is called under the lock, when the file may be written. If it raises, nothing is written.
        """
        decode(data)
        if self._link is not None:  # a repository can contain one, and it may lead to any file of the user
            raise Unavailable(
                f"{self._link} is a link to {self.path}; no new file is written to its target",
                hint="Remove the link, or name the file itself with --state-file.",
            )
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with durable.locked(self.path):
            if not overwrite and os.path.lexists(self.path):
                raise Unavailable(f"{self.path} exists already", hint="--force replaces it.")
            before_writing()
            durable.replace(self.path, data)
            durable.discard_log(self.path)

    def _document(self, data: bytes) -> Document:
        if self._known is not None and self._known[0] == data:
            return self._known[1]
        from aotloop.statefile.document import Document  # noqa: PLC0415 - a reader does not need it

        loaded, self._loaded = self._loaded, None
        return Document(data, loaded[1] if loaded is not None and loaded[0] == data else None)

    def _read(self) -> tuple[bytes, Signature]:
        """What the file and its log say together. If the file is replaced meanwhile, both are read again."""
        for _ in range(MOST_RETRIES):
            data, signature = self._content()
            logged = self._logged(data)
            if self.signature_now() == signature:
                break
        self._is_behind = logged is not None
        return (data if logged is None else logged), signature

    def _logged(self, data: bytes) -> bytes | None:
        if not os.path.lexists(durable.beside(self.path, "log")):
            return None
        from aotloop.statefile.redo_log import content_with_log  # noqa: PLC0415 - most files have no log

        return content_with_log(self.path, data)

    def _content(self) -> tuple[bytes, Signature]:
        try:
            return contents(self.path)
        except FileNotFoundError:
            raise StateFileMissing(f"there is no {self.path}", hint="`aot align` makes one.") from None
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be read: {error.strerror}") from error

    def has_changed(self) -> bool:
        """Whether another process changed the file since the last update. The latest change may
        be seen a moment later.
        """
        if self.signature_now() != self._signature:
            return True
        known, signature, left_at = self._known, self._signature, self._left_at
        if known is None or signature is None or is_telling(signature):
            return False
        if left_at is None or time.monotonic() - left_at < TICK:
            return False
        with suppress(StateFileError, Unavailable):  # the next update reports any error
            if self._content()[0] == known[0]:
                self._left_at = None
                return False
        return True

    def signature_now(self) -> Signature | None:
        return signature_of(self.path)
