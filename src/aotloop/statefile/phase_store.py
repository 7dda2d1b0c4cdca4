"""Reading and changing the phase loop of one file, whoever else does so at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile import durable
from aotloop.statefile.exchange import Signature, contents, exchange
from aotloop.statefile.phase_reading import decode, encode
from aotloop.statefile.strict_json import MOST_BYTES

T = TypeVar("T")


class PhaseStore:
    def __init__(self, path: str, *, patience: float = durable.LOCK_PATIENCE) -> None:
        self.path = os.path.realpath(path)  # a symbolic link stays one: its target is replaced
        self._patience = patience

    def load(self) -> PhaseLoop:
        with self._named():
            return decode(self._read()[0])

    def update(self, change: Callable[[PhaseLoop], tuple[PhaseLoop, T]]) -> T:
        """Writes the loop that `change` makes of the one in the file, and returns what else `change` returned.

        `change` may run more than once, if somebody saves the file meanwhile. If it raises, nothing is written; nor
        if it returns the loop as it was.
        """

        def revise(data: bytes) -> tuple[bytes, T]:
            before = decode(data)
            after, result = change(before)
            return (_readable(encode(after, data)) if after != before else data), result

        with durable.locked(self.path, patience=self._patience), self._named():
            return exchange(self.path, self._read, revise).result

    def create(self, loop: PhaseLoop, *, overwrite: bool = False, instead_of: PhaseLoop | None = None) -> None:
        """Writes a new file, after making sure that it can be read. `instead_of`: if that is still what is there."""
        data = _readable(encode(loop))
        decode(data)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with durable.locked(self.path, patience=self._patience):
            is_there = os.path.lexists(self.path)
            if is_there and not overwrite and (instead_of is None or decode(self._read()[0]) != instead_of):
                raise Unavailable(f"{self.path} exists already", hint="It holds another loop; look at that one first.")
            durable.replace(self.path, data)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Whatever is wrong with the file, it is said of which file."""
        try:
            yield
        except StateFileInvalid as error:
            raise StateFileInvalid(f"{self.path}: {error.message}", error.findings, hint=error.hint) from None

    def _read(self) -> tuple[bytes, Signature]:
        try:
            return contents(self.path, most=MOST_BYTES)
        except FileNotFoundError:
            raise StateFileMissing(f"there is no {self.path}", hint="No phase loop was begun here.") from None
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be read: {error.strerror}") from error


def _readable(data: bytes) -> bytes:
    """What nobody could read again is not written."""
    if len(data) > MOST_BYTES:
        raise Unavailable(
            f"the phase loop would be too large: {len(data)} of {MOST_BYTES} bytes; it is as it was",
            hint="Say what is to be kept in fewer words.",
        )
    return data
