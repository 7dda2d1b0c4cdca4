"""Sections: one top-level key of a state file, its lines cut into entries, and their changes with the loop.

A revision returns the written entries and their expected values. The module `readback` checks all of them together.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from aotloop.core.model import Loop
from aotloop.statefile.yaml import emitter, entries
from aotloop.statefile.yaml.pieces import Block, Piece, cut, marked, shows_every_cut, split_value
from aotloop.statefile.yaml.readback import LISTS, MAPPINGS, STRUCTS, Written

_STRETCH = 32


class Section:
    def __init__(self, piece: Piece, indent: int, value: Any) -> None:
        """`value` is the loop's value for this key; None for an unknown key."""
        self.name = piece.name
        self._gap = piece.gap
        self._indent = indent
        self.shown: list[bytes] | None = None
        """The parts of the text that was written last; None: no text was made yet."""
        self._take(piece.lines, value)

    def _take(self, lines: bytes, value: Any) -> None:
        """Cuts the lines into a head and entries, if they have as many as the value."""
        self.head, self.block = lines, None
        nested = split_value(lines, self._indent) if value is not None else None
        block = cut(nested[1]) if nested is not None else None
        if nested is not None and block is not None and _agrees(self.name, block, value):
            self.head, self.block = nested[0], block

    def parts(self) -> list[bytes]:
        """The text in parts. They are not joined, because the text may be long and is only a part of the file."""
        self.shown = [self.head, *self._entries(), self._gap]
        return self.shown

    def _entries(self) -> list[bytes]:
        return [] if self.block is None else self.block.parts()

    def lines(self) -> bytes:
        return b"".join((self.head, *self._entries()))

    # --- proof -------------------------------------------------------------------------------------------------

    def marked(self) -> Piece:
        lines = self.head if self.block is None else self.head + marked(self.block)
        return Piece(self.name, lines, self._gap)

    def is_proven(self, found: Any) -> bool:
        return self.block is None or shows_every_cut(found, self.block)

    # --- revision ----------------------------------------------------------------------------------------------

    def revise(self, old: Any, new: Any) -> Written | None:
        """The written entries. None: it has none to be read back, and only reading the whole file can check it."""
        if self.block is None or not new:
            return self._write_anew(old, new)
        if self.name in STRUCTS:
            return self._revise_struct(self.block, old, new)
        if self.name in MAPPINGS:
            return self._revise_mapping(self.block, old, new)
        return self._revise_list(self.block, old, new)

    def _write_anew(self, old: Any, new: Any) -> Written | None:
        data = emitter.to_data(old), emitter.to_data(new)
        self._take(entries.revised_pair(self.lines(), self.name, *data, self._indent), new)
        if self.block is None:
            return None
        if self.name in STRUCTS:
            return Written(self.name, self.head, self.block, [new])
        values = list(new) if self.name in LISTS else list(new.values())
        return self._written(self.block, list(range(len(values))), values)

    def _revise_list(self, block: Block, old: list[Any], new: list[Any]) -> Written:
        changed = _places_of_change(old, new)
        # An atom is identified by its id. Entries of the other lists never change, so they are identified by identity.
        name = attrgetter("id") if self.name == "atoms" else id
        if len(new) >= len(old) and all(name(old[number]) == name(new[number]) for number in changed):
            return self._revise_in_place(block, old, changed, new, [""] * (len(new) - len(old)))
        return self._rearrange(block, list(map(name, old)), old, list(map(name, new)), new)

    def _revise_mapping(self, block: Block, old: dict[str, Any], new: dict[str, Any]) -> Written:
        names, old_entries, new_entries = list(new), list(old.values()), list(new.values())
        if names[: len(old)] == list(old):
            changed = _places_of_change(old_entries, new_entries)
            return self._revise_in_place(block, old_entries, changed, new_entries, names[len(old) :])
        return self._rearrange(block, list(old), old_entries, names, new_entries)

    def _revise_in_place(
        self, block: Block, old: list[Any], changed: list[int], new: list[Any], appended: list[str]
    ) -> Written:
        """The usual case: nothing was moved or removed, so only the changes cost time."""
        for number in changed:
            self._revise_entry(block, number, old[number], new[number])
        for number, name in enumerate(appended, len(old)):
            block.append(name)
            self._revise_entry(block, number, None, new[number])
        return self._written(block, [*changed, *range(len(old), len(new))], new)

    def _rearrange(
        self, block: Block, old_names: list[Any], old: list[Any], new_names: list[Any], new: list[Any]
    ) -> Written:
        places = {name: number for number, name in reversed(list(enumerate(old_names)))}
        sources = [places.pop(name, None) for name in new_names]
        block.arrange(sources, [str(name) for name in new_names])
        before = [None if source is None else old[source] for source in sources]
        changed = [number for number, entry in enumerate(before) if entry != new[number]]
        for number in changed:
            self._revise_entry(block, number, before[number], new[number])
        return self._written(block, changed, new)

    def _written(self, block: Block, numbers: list[int], new: list[Any]) -> Written:
        revised = Block(block.kind, block.indent, b"", [block.pieces[number] for number in numbers])
        return Written(self.name, self.head, revised, [new[number] for number in numbers], numbers)

    def _revise_struct(self, block: Block, old: Any, new: Any) -> Written:
        entries.revise_mapping(block, *emitter.differences(old, new))
        return Written(self.name, self.head, block, [new])

    def _revise_entry(self, block: Block, number: int, old: Any, new: Any) -> None:
        piece = block.pieces[number]
        if self.name in LISTS:
            if old is None:
                lines = emitter.item(emitter.to_data(new), block.indent).encode()
            else:
                lines = entries.revised_item(piece.lines, old, new, block.indent)
        elif old is None:
            lines = emitter.pair(piece.name, emitter.to_data(new), block.indent).encode()
        else:
            lines = entries.revised_pair(
                piece.lines, piece.name, emitter.to_data(old), emitter.to_data(new), block.indent
            )
        block.put(number, lines)


def _places_of_change(old: list[Any], new: list[Any]) -> list[int]:
    """Almost all entries are equal, and there may be thousands. So whole stretches are compared first."""
    places: list[int] = []
    for start in range(0, min(len(old), len(new)), _STRETCH):
        before, now = old[start : start + _STRETCH], new[start : start + _STRETCH]
        if before != now:
            pairs = enumerate(zip(before, now, strict=False), start)
            places += [place for place, (before, other) in pairs if before is not other and before != other]
    return places


def _agrees(name: str, block: Block, value: Any) -> bool:
    """Whether the block has as many entries as the loop, with the same names."""
    if name in LISTS:
        return block.kind == "list" and len(block.pieces) == len(value)
    if name in MAPPINGS:
        return block.kind == "mapping" and [piece.name for piece in block.pieces] == list(value)
    return block.kind == "mapping"


def missing_section(name: str, indent: int) -> Section:
    """A section that is not in the file yet. It is empty until it is revised."""
    empty = b"" if name in STRUCTS else emitter.pair(name, [] if name in LISTS else {}, indent).encode()
    return Section(Piece(name, empty), indent, None)


SECTION_NAMES = Loop.__struct_fields__
