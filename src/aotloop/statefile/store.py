"""Reading and changing the loop of one state file, whoever else does so at the same time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from aotloop.core.model import Loop
from aotloop.errors import StateFileError, StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile import durable
from aotloop.statefile.exchange import TICK, Signature, contents, exchange, signature_of
from aotloop.statefile.reading import Examination, decode, examine

if TYPE_CHECKING:
    from aotloop.statefile.document import Document

T = TypeVar("T")


class Store:
    def __init__(self, path: str, *, patience: float = durable.LOCK_PATIENCE) -> None:
        self.path = os.path.realpath(path)  # a symbolic link stays one: its target is replaced
        self._link = path if os.path.islink(path) else None
        self._patience = patience
        self._known: tuple[bytes, Document] | None = None
        self._signature: Signature | None = None
        """Of the file as the last update left it."""
        self._left_at: float | None = None
        """When that was; None: what has happened to the file since then can be told by its signature."""

    def load(self) -> Loop:
        with self._named():
            return decode(self._read()[0])

    def examine(self) -> Examination:
        return examine(self._read()[0])

    def update(self, change: Callable[[Loop], T]) -> T:
        """Applies `change` to the loop as it now is and writes the result; returns what `change` returned.

        `change` may run more than once: a person's editor does not take our lock, so if the file changes between our
        reading and our writing, it is read again and the change applied to what it says then. If `change` raises,
        nothing is written.
        """

        def revise(data: bytes) -> tuple[bytes, tuple[Document, T]]:
            document = self._document(data)
            loop = document.loop()
            result = change(loop)
            self._known = None  # until the file is written, the document may be ahead of it
            return document.revise(loop), (document, result)

        with durable.locked(self.path, patience=self._patience), self._named():
            done = exchange(self.path, self._read, revise)
            document, result = done.result
            self._known, self._signature, self._left_at = (done.data, document), done.signature, time.monotonic()
            return result

    def create(self, data: bytes, *, overwrite: bool = False) -> None:
        """Writes a new file, after making sure that it can be read."""
        decode(data)
        if self._link is not None:  # a repository can bring one; what it leads to may be any file of the user's
            raise Unavailable(
                f"{self._link} is a link to {self.path}; no new file is written to its other end",
                hint="Remove the link, or name the file itself with --state-file.",
            )
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with durable.locked(self.path):
            if not overwrite and os.path.lexists(self.path):
                raise Unavailable(f"{self.path} exists already", hint="--force replaces it.")
            durable.replace(self.path, data)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Whatever is wrong with the file, it is said of which file."""
        try:
            yield
        except StateFileInvalid as error:
            raise StateFileInvalid(f"{self.path}: {error.message}", error.findings, hint=error.hint) from None

    def _document(self, data: bytes) -> Document:
        if self._known is not None and self._known[0] == data:
            return self._known[1]
        from aotloop.statefile.document import Document  # noqa: PLC0415 - who only reads need not load it

        return Document(data)

    def _read(self) -> tuple[bytes, Signature]:
        try:
            return contents(self.path)
        except FileNotFoundError:
            raise StateFileMissing(f"there is no {self.path}", hint="`aot align` makes one.") from None
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be read: {error.strerror}") from error

    def has_changed(self) -> bool:
        """Since the last update, by somebody else. What was changed at the same moment is seen a moment later."""
        if self.signature_now() != self._signature:
            return True
        known, left_at = self._known, self._left_at
        if known is None or left_at is None or time.monotonic() - left_at < TICK:
            return False
        with suppress(StateFileError, Unavailable):  # what is wrong with it, the next update says
            if self._read()[0] == known[0]:
                self._left_at = None
                return False
        return True

    def signature_now(self) -> Signature | None:
        return signature_of(self.path)
