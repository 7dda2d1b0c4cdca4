"""A place is where a setting was written (a file and its key, a variable, a flag): every mistake names its own."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from aotloop.core.findings import Path, dotted
from aotloop.errors import AotError


class Place(msgspec.Struct, frozen=True):
    source: str
    path: Path = ()

    def inner(self, part: str | int) -> Place:
        return Place(self.source, (*self.path, part))

    def mistake(self, what: str, hint: str | None = None) -> AotError:
        return AotError(f"{self}: {what}", hint=hint)

    def __str__(self) -> str:
        return f"{self.source}: {dotted(self.path)}" if self.path else self.source


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint, if anything of that which there is comes near."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, needed only for a mistake

    near = get_close_matches(word, sorted(known), n=1)
    return f"Did you mean {near[0]}?" if near else None
