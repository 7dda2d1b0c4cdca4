"""Excerpts: the written entries of an unusual file are read back carefully, without reading the whole file.

An excerpt holds the written entries, each behind a marker, and the entries with the anchors that they name. Where a
written entry has anchors itself, the entries that name those are in it too, because their values could have changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec

from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml import careful_reader, nodes
from aotloop.statefile.yaml.pieces import Block, Piece, marked, shows_every_cut
from aotloop.statefile.yaml.readback import KINDS, LISTS, STRUCTS, Written
from aotloop.statefile.yaml.sections import Section

_ANCHOR = re.compile(rb"(?<![^\s\[{,])&([^\s,\[\]{}]+)")
_ALIAS = re.compile(rb"(?<![^\s\[{,])\*([^\s,\[\]{}]+)")

Place = tuple[int, int | None]
"""A section, and one of its entries. None: the section is one whole."""

Both = tuple[frozenset[bytes], frozenset[bytes]]
_NONE: Both = frozenset(), frozenset()


@lru_cache(maxsize=1 << 16)
def _named_in(text: bytes) -> Both:
    """Its anchors and its aliases. Almost all entries are as they were at the last update."""
    return frozenset(_ANCHOR.findall(text)), frozenset(_ALIAS.findall(text))


class Names(msgspec.Struct):
    """Where anchors are, and where they are named. Text that looks like one only makes an excerpt longer."""

    anchors: dict[bytes, set[Place]] = {}
    aliases: dict[bytes, set[Place]] = {}
    of_place: dict[Place, Both] = {}

    def add(self, place: Place, text: bytes) -> None:
        if b"&" in text or b"*" in text:
            anchors, aliases = _named_in(text)
            self.of_place[place] = anchors, aliases
            for found, known in ((anchors, self.anchors), (aliases, self.aliases)):
                for name in found:
                    known.setdefault(name, set()).add(place)

    def depending_on(self, places: Iterable[Place]) -> set[Place]:
        """These places, and all that name an anchor in one of them, directly or through others."""
        return _closure(places, lambda place: self.of_place.get(place, _NONE)[0], self.aliases)

    def needed_by(self, places: Iterable[Place]) -> set[Place]:
        return _closure(places, lambda place: self.of_place.get(place, _NONE)[1], self.anchors)


def _closure(
    places: Iterable[Place], names: Callable[[Place], frozenset[bytes]], known: dict[bytes, set[Place]]
) -> set[Place]:
    reached = set(places)
    waiting = list(reached)
    while waiting:
        for name in names(waiting.pop()):
            more = known.get(name, set()) - reached
            reached |= more
            waiting += more
    return reached


def names_in(sections: list[Section]) -> Names:
    names = Names()
    for number, section in enumerate(sections):
        if section.block is None or section.name in STRUCTS:
            names.add((number, None), section.lines())
        else:
            for entry, piece in enumerate(section.block.pieces):
                names.add((number, entry), piece.lines)
    return names


def read_as_meant(
    sections: list[Section], written: list[Written], loop: Loop, indent: int, anchors: frozenset[bytes]
) -> bool:
    """False also in doubt. `anchors`: those that were in the file; one that was lost may still be named."""
    names = names_in(sections) if anchors or any(b"&" in section.lines() for section in written) else Names()
    if any(name in names.aliases for name in anchors - names.anchors.keys()):
        return False
    changed = names.depending_on(_places(sections, written))
    if any(entry is None and sections[number].name not in STRUCTS for number, entry in changed):
        return False
    excerpt = _Excerpt(sections, names.needed_by(changed), indent)
    return excerpt.is_readable and all(excerpt.value_of(place) == _meant(sections, place, loop) for place in changed)


def _places(sections: list[Section], written: list[Written]) -> set[Place]:
    places: set[Place] = set()
    for section in written:
        number = next(number for number, known in enumerate(sections) if known.name == section.name)
        places |= {(number, None)} if section.name in STRUCTS else {(number, entry) for entry in section.numbers}
    return places


def _meant(sections: list[Section], place: Place, loop: Loop) -> Any:
    value = getattr(loop, sections[place[0]].name)
    if place[1] is None:
        return value
    return value[place[1]] if isinstance(value, list) else value[list(value)[place[1]]]


class _Excerpt:
    def __init__(self, sections: list[Section], places: set[Place], indent: int) -> None:
        self._sections = sections
        self._entries: dict[int, list[int]] = {}
        for number, entry in sorted(places, key=lambda place: (place[0], place[1] or 0)):
            self._entries.setdefault(number, []).extend([] if entry is None else [entry])
        self._blocks = {number: self._block(number) for number, entries in self._entries.items() if entries}
        lines = [self._lines(number) for number in self._entries]
        whole = Block("mapping", indent, b"", lines)
        self.is_readable = False
        try:
            root: Any = nodes.compose(marked(whole), 1)
            found = careful_reader.plain(root)
        except (StateFileInvalid, RecursionError):
            return
        self._root = root
        self.is_readable = shows_every_cut(found, whole) and all(
            shows_every_cut(found[self._sections[number].name], block) for number, block in self._blocks.items()
        )

    def _block(self, number: int) -> Block:
        block = self._sections[number].block
        if block is None:
            raise AssertionError("a section without entries is one whole")
        return Block(block.kind, block.indent, b"", [block.pieces[entry] for entry in self._entries[number]])

    def _lines(self, number: int) -> Piece:
        section, block = self._sections[number], self._blocks.get(number)
        return Piece(section.name, section.lines() if block is None else section.head + marked(block))

    def value_of(self, place: Place) -> Any:
        number, entry = place
        node = self._root.value[2 * list(self._entries).index(number) + 1][1]
        if entry is not None:
            child = node.value[2 * self._entries[number].index(entry) + 1]
            node = child if self._sections[number].name in LISTS else child[1]
        reader = careful_reader.Reader()
        value = reader.read(node, KINDS[self._sections[number].name])
        return None if any(finding.level == "error" for finding in reader.findings) else value
