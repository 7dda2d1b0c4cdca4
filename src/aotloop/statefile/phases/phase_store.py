"""The store of a phase loop: reads and changes one file, also while other processes do so."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import StateFileMissing, Unavailable
from aotloop.statefile import durable
from aotloop.statefile.exchange import Signature, contents, exchange, naming
from aotloop.statefile.phases.phase_reader import decode, encode
from aotloop.statefile.phases.strict_json import MOST_BYTES

T = TypeVar("T")


class PhaseStore:
    def __init__(self, path: str, *, patience: float = durable.LOCK_PATIENCE) -> None:
        self.path = os.path.realpath(path)  # a symbolic link stays; its target is replaced
        self._patience = patience

    def load(self) -> PhaseLoop:
        with naming(self.path):
            return decode(self._read()[0])

    def update(self, change: Callable[[PhaseLoop], tuple[PhaseLoop, T]]) -> T:
        """Writes the loop that `change` returns for the loop in the file, and returns the second result of `change`.

        `change` may run more than once, if another process saves the file meanwhile. Nothing is written if it raises,
        or if it returns the same loop.
        """

        def revise(data: bytes) -> tuple[bytes, T]:
            before = decode(data)
            after, result = change(before)
            return (_readable(encode(after, data)) if after != before else data), result

        with durable.locked(self.path, patience=self._patience), naming(self.path):
            return exchange(self.path, self._read, revise).result

    def create(self, loop: PhaseLoop, *, overwrite: bool = False, instead_of: PhaseLoop | None = None) -> None:
        """Writes a new file after checking that it can be read. `instead_of`: only if the file still holds that."""
        data = _readable(encode(loop))
        decode(data)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with durable.locked(self.path, patience=self._patience):
            is_there = os.path.lexists(self.path)
            if is_there and not overwrite and (instead_of is None or decode(self._read()[0]) != instead_of):
                raise Unavailable(f"{self.path} exists already", hint="It holds another loop; look at that one first.")
            durable.replace(self.path, data)

    def _read(self) -> tuple[bytes, Signature]:
        try:
            return contents(self.path, most=MOST_BYTES)
        except FileNotFoundError:
            raise StateFileMissing(f"there is no {self.path}", hint="No phase loop was begun here.") from None
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be read: {error.strerror}") from error


def _readable(data: bytes) -> bytes:
    """Refuses a file that could not be read again."""
    if len(data) > MOST_BYTES:
        raise Unavailable(
            f"the phase loop would be too large: {len(data)} of {MOST_BYTES} bytes; it is as it was",
            hint="Describe it in fewer words.",
        )
    return data
