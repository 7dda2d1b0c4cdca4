"""One top-level key of a state file: its lines, cut into entries, and how they change with the loop.

A revision tells whether it is sure: every entry it wrote was read back and is what it was meant to be.
"""

from __future__ import annotations

import types
from operator import attrgetter, is_
from typing import Any

import msgspec

from aotloop.core.model import (
    Atom,
    Binding,
    Control,
    Correction,
    Decomposition,
    Loop,
    Objective,
    OrGroup,
    TrailEntry,
)
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
            self._text = b"".join((self.head, *self._entries(), self._gap))  # one copy of what may be long
        return self._text

    def _entries(self) -> list[bytes]:
        return [] if self.block is None else self.block.parts()

    def _lines(self) -> bytes:
        return b"".join((self.head, *self._entries()))

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
            return self._revise_mapping(self.block, old, new)
        return self._revise_list(self.block, old, new)

    def _write_anew(self, old: Any, new: Any) -> bool:
        self.head = entries.revised_pair(self._lines(), self.name, emit.to_data(old), emit.to_data(new), self._indent)
        self.block = None
        return False

    def _revise_list(self, block: Block, old: list[Any], new: list[Any]) -> bool:
        changed = _places_of_false(list(map(is_, old, new)))
        # An atom is told from the others by its id; entries of the other lists are never changed, so by identity.
        name = attrgetter("id") if self.name == "atoms" else id
        if len(new) >= len(old) and all(name(old[number]) == name(new[number]) for number in changed):
            return self._revise_in_place(block, old, changed, new, [""] * (len(new) - len(old)))
        return self._rearrange(block, list(map(name, old)), old, list(map(name, new)), new)

    def _revise_mapping(self, block: Block, old: dict[str, Any], new: dict[str, Any]) -> bool:
        names, old_entries, new_entries = list(new), list(old.values()), list(new.values())
        if names[: len(old)] == list(old):
            changed = [number for number, entry in enumerate(old_entries) if entry is not new_entries[number]]
            return self._revise_in_place(block, old_entries, changed, new_entries, names[len(old) :])
        return self._rearrange(block, list(old), old_entries, names, new_entries)

    def _revise_in_place(
        self, block: Block, old: list[Any], changed: list[int], new: list[Any], appended: list[str]
    ) -> bool:
        """Nothing was moved or removed, as nearly always: the cost is that of what changed."""
        sure = [self._revise_entry(block, number, old[number], new[number]) for number in changed]
        for name in appended:
            block.append(name)
            number = len(block.pieces) - 1
            sure.append(self._revise_entry(block, number, None, new[number]))
        return all(sure)

    def _rearrange(
        self, block: Block, old_names: list[Any], old: list[Any], new_names: list[Any], new: list[Any]
    ) -> bool:
        places = {name: number for number, name in reversed(list(enumerate(old_names)))}
        sources = [places.pop(name, None) for name in new_names]
        block.arrange(sources, [str(name) for name in new_names])
        before = [None if source is None else old[source] for source in sources]
        sure = [
            self._revise_entry(block, number, one, new[number])
            for number, one in enumerate(before)
            if one is not new[number]
        ]
        return all(sure)

    def _revise_struct(self, block: Block, old: Any, new: Any) -> bool:
        lines = entries.revised_mapping(block.text(), emit.to_data(old), emit.to_data(new))
        fresh = cut(lines) if lines is not None else None
        if fresh is None or read_value(fresh.text(), STRUCTS[self.name]) != new:
            return self._write_anew(old, new)
        self.block = fresh
        return True

    def _revise_entry(self, block: Block, number: int, old: Any, new: Any) -> bool:
        piece = block.pieces[number]
        before, after = emit.to_data(old), emit.to_data(new)
        if self.name in LISTS:
            if old is None:
                lines = emit.item(after, block.indent).encode()
            else:
                lines = entries.revised_item(piece.lines, before, after, block.indent)
            expected: Any = [new]
        else:
            if old is None:
                lines = emit.pair(piece.name, after, block.indent).encode()
            else:
                lines = entries.revised_pair(piece.lines, piece.name, before, after, block.indent)
            expected = {piece.name: new}
        block.put(number, lines)
        return bool(read_value(lines, self._kind_of_entry()) == expected)

    def _kind_of_entry(self) -> Any:
        """A type made at run time, which a type checker cannot follow."""
        if self.name in LISTS:
            return types.GenericAlias(list, (LISTS[self.name],))
        return types.GenericAlias(dict, (str, MAPPINGS[self.name]))


def _places_of_false(flags: list[bool]) -> list[int]:
    """Nearly all are true, and there may be thousands."""
    places: list[int] = []
    for _ in range(flags.count(False)):
        places.append(flags.index(False, places[-1] + 1 if places else 0))
    return places


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
