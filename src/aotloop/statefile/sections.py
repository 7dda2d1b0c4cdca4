"""One top-level key of a state file: its lines, cut into entries, and how they change with the loop.

A revision tells whether it is sure: every entry it wrote was read back and is what it was meant to be.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec

from aotloop.core.model import Atom, Binding, Control, Correction, Decomposition, Loop, Objective, OrGroup, TrailEntry
from aotloop.statefile import emit, entries
from aotloop.statefile.pieces import Block, Piece, cut, marked, shows_every_cut, split_value
from aotloop.statefile.reading import read_value

LISTS: dict[str, type[msgspec.Struct]] = {
    "atoms": Atom,
    "decompositions": Decomposition,
    "trail": TrailEntry,
    "corrections": Correction,
}
MAPPINGS: dict[str, type[msgspec.Struct]] = {"or_groups": OrGroup, "bindings": Binding}
STRUCTS: dict[str, type[msgspec.Struct]] = {"objective": Objective, "control": Control}


class Section:
    def __init__(self, piece: Piece, indent: int, value: Any) -> None:
        """`value` is what the loop holds for this key; None for a key that is not ours."""
        self.name = piece.name
        self.head = piece.lines
        self.block: Block | None = None
        self._gap = piece.gap
        self._indent = indent
        self._text: bytes | None = None
        nested = split_value(piece.lines, indent) if value is not None else None
        block = cut(nested[1]) if nested is not None else None
        if nested is not None and block is not None and _agrees(self.name, block, value):
            self.head, self.block = nested[0], block

    def text(self) -> bytes:
        if self._text is None:
            self._text = self._lines() + self._gap
        return self._text

    def _lines(self) -> bytes:
        return self.head if self.block is None else self.head + self.block.text()

    # --- proof -------------------------------------------------------------------------------------------------

    def marked(self) -> Piece:
        lines = self.head if self.block is None else self.head + marked(self.block)
        return Piece(self.name, lines, self._gap)

    def is_proven(self, found: Any) -> bool:
        return self.block is None or shows_every_cut(found, self.block)

    # --- revision ----------------------------------------------------------------------------------------------

    def revise(self, old: Any, new: Any) -> bool:
        self._text = None
        if self.block is None or not new:
            return self._write_anew(old, new)
        if self.name in STRUCTS:
            return self._revise_struct(self.block, old, new)
        if self.name in MAPPINGS:
            return self._revise_entries(self.block, list(old), list(old.values()), list(new), list(new.values()))
        # An atom is told from the others by its id; entries of the other lists are never changed, so by identity.
        names = attrgetter("id") if self.name == "atoms" else id
        return self._revise_entries(self.block, list(map(names, old)), old, list(map(names, new)), new)

    def _write_anew(self, old: Any, new: Any) -> bool:
        self.head = entries.revised_pair(
            self._lines(), self.name, emit.to_data(old), emit.to_data(new), self._indent
        )
        self.block = None
        return False

    def _revise_entries(
        self, block: Block, old_names: list[Any], old: list[Any], new_names: list[Any], new: list[Any]
    ) -> bool:
        before: list[Any]
        if new_names[: len(old)] == old_names:  # nothing was moved or removed, as nearly always
            for name in new_names[len(old) :]:
                block.append(name)
            before = [*old, *[None] * (len(new) - len(old))]
        else:
            places = {name: number for number, name in reversed(list(enumerate(old_names)))}
            sources = [places.pop(name, None) for name in new_names]
            block.arrange(sources, new_names)
            before = [None if source is None else old[source] for source in sources]
        changed = [number for number, one in enumerate(before) if one is not new[number]]
        return all(
            [self._revise_entry(block.pieces[number], before[number], new[number], block.indent) for number in changed]
        )

    def _revise_struct(self, block: Block, old: Any, new: Any) -> bool:
        lines = entries.revised_mapping(block.text(), emit.to_data(old), emit.to_data(new))
        fresh = cut(lines) if lines is not None else None
        if fresh is None or read_value(fresh.text(), STRUCTS[self.name]) != new:
            return self._write_anew(old, new)
        self.block = fresh
        return True

    def _revise_entry(self, piece: Piece, old: Any, new: Any, indent: int) -> bool:
        before, after = emit.to_data(old), emit.to_data(new)
        if self.name in LISTS:
            fresh = emit.item(after, indent).encode() if old is None else None
            piece.lines = fresh or entries.revised_item(piece.lines, before, after, indent)
            return read_value(piece.lines, list[LISTS[self.name]]) == [new]  # type: ignore[misc]
        fresh = emit.pair(piece.name, after, indent).encode() if old is None else None
        piece.lines = fresh or entries.revised_pair(piece.lines, piece.name, before, after, indent)
        return read_value(piece.lines, dict[str, MAPPINGS[self.name]]) == {piece.name: new}  # type: ignore[misc]


def _agrees(name: str, block: Block, value: Any) -> bool:
    """Whether the block was cut into as many entries, of the same names, as the loop has."""
    if name in LISTS:
        return block.kind == "list" and len(block.pieces) == len(value)
    if name in MAPPINGS:
        return block.kind == "mapping" and [piece.name for piece in block.pieces] == list(value)
    return block.kind == "mapping"


def missing_section(name: str, indent: int) -> Section:
    """A section that is not in the file yet: nothing, until it is revised."""
    empty = b"" if name in STRUCTS else emit.pair(name, [] if name in LISTS else {}, indent).encode()
    return Section(Piece(name, empty), indent, None)


SECTION_NAMES = Loop.__struct_fields__
