"""Read-back: all written entries of a revision are read in one parse before they are accepted.

The revised entries of all sections form one document, each with its own indentation and between two markers. So each
must appear as a separate entry, and no entry can hide a mistake of another.
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
from aotloop.statefile.yaml import fast_reader
from aotloop.statefile.yaml.pieces import Block, Piece, marked, shows_every_cut

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
    """The revised entries of one section, and the values that they must have.

    A section that is a struct is one entry: its keys are the pieces.
    """

    name: str
    head: bytes
    block: Block
    expected: list[Any]
    numbers: list[int] = []
    """Their places in the section."""

    def lines(self) -> bytes:
        return self.head + (self.block.text() if self.name in STRUCTS else marked(self.block))

    def is_found(self, found: Any) -> bool:
        kind = KINDS[self.name]
        if self.name in STRUCTS:
            return _converted([found], kind) == self.expected
        if not shows_every_cut(found, self.block):
            return False
        return _converted((found if self.name in LISTS else list(found.values()))[1::2], kind) == self.expected


def reads_as_meant(written: list[Written], indent: int) -> bool:
    """False: the values differ, or the fast reader is not certain. `indent` is that of the sections' keys."""
    written = [section for section in written if section.expected]  # entries may only have been removed
    sections = [Piece(section.name, section.lines()) for section in written]
    whole = Block("mapping", indent, b"", sections)
    found = fast_reader.of_entries(marked(whole))
    return shows_every_cut(found, whole) and all(section.is_found(found[section.name]) for section in written)


def _converted(found: list[Any], kind: type[msgspec.Struct]) -> list[Any] | None:
    try:
        return [msgspec.convert(value, kind, str_keys=True) for value in found]
    except (ValueError, RecursionError):
        return None
