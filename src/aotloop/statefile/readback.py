"""What a revision wrote is read back, all of it in one parse, before it is accepted.

The revised entries of all sections make up one document, each of them at its own indentation and between two markers:
so each has to come out as an entry of its own, and none can make up for what another one lacks.
"""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.core.model import (
    Atom,
    Binding,
    Control,
    Correction,
    Decomposition,
    Objective,
    OrGroup,
    TrailEntry,
)
from aotloop.statefile import fast
from aotloop.statefile.pieces import Block, Piece, marked, shows_every_cut
from aotloop.statefile.reading import read_value

LISTS: dict[str, type[msgspec.Struct]] = {
    "atoms": Atom,
    "decompositions": Decomposition,
    "trail": TrailEntry,
    "corrections": Correction,
}
MAPPINGS: dict[str, type[msgspec.Struct]] = {"or_groups": OrGroup, "bindings": Binding}
STRUCTS: dict[str, type[msgspec.Struct]] = {"objective": Objective, "control": Control}
KINDS = {**LISTS, **MAPPINGS, **STRUCTS}


class Written(msgspec.Struct, frozen=True):
    """The entries of one section that were revised, and what they have to read as.

    A section that is a struct is one entry: its keys are the pieces.
    """

    name: str
    head: bytes
    block: Block
    expected: list[Any]

    def lines(self) -> bytes:
        return self.head + (self.block.text() if self.name in STRUCTS else marked(self.block))

    def is_found(self, found: Any) -> bool:
        kind = KINDS[self.name]
        if self.name in STRUCTS:
            return _converted([found], kind) == self.expected
        if not shows_every_cut(found, self.block):
            return False
        return _converted((found if self.name in LISTS else list(found.values()))[1::2], kind) == self.expected

    def reads_alone(self) -> bool:
        """The same of every entry by itself; slower, and for whatever the fast reader does not vouch for."""
        kind = KINDS[self.name]
        if self.name in STRUCTS:
            return bool(read_value(self.block.text(), kind) == self.expected[0])
        return all(
            _alone(piece, kind, is_named=self.name in MAPPINGS) == entry
            for piece, entry in zip(self.block.pieces, self.expected, strict=True)
        )


def reads_as_meant(written: list[Written], indent: int) -> bool:
    """False: it is not so, or the fast reader does not vouch for it. `indent` is that of the sections' keys."""
    written = [one for one in written if one.expected]  # entries may only have gone
    sections = [Piece(one.name, one.lines()) for one in written]
    whole = Block("mapping", indent, b"", sections)
    found = fast.of_entries(marked(whole))
    return shows_every_cut(found, whole) and all(one.is_found(found[one.name]) for one in written)


def _converted(found: list[Any], kind: type[msgspec.Struct]) -> list[Any] | None:
    try:
        return [msgspec.convert(one, kind, str_keys=True) for one in found]
    except (ValueError, RecursionError):
        return None


def _alone(piece: Piece, kind: type[msgspec.Struct], *, is_named: bool) -> Any:
    if is_named:
        named = read_value(piece.lines, dict[str, kind])  # type: ignore[valid-type]
        return named[piece.name] if named is not None and list(named) == [piece.name] else None
    listed = read_value(piece.lines, list[kind])  # type: ignore[valid-type]
    return listed[0] if listed is not None and len(listed) == 1 else None
