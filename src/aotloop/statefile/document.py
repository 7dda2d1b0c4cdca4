"""A state file in memory: its text and its loop. A new loop changes only the entries that differ.

If a revision is uncertain, or the cuts between entries could not be proven, the whole new file is read back before it
is accepted. So every text that is written reads as the loop it was made for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile import reader
from aotloop.statefile.reader import decode_parts, plain_data
from aotloop.statefile.splices import Splice, splices_between
from aotloop.statefile.yaml import emitter, fast_reader
from aotloop.statefile.yaml.entries import overlay
from aotloop.statefile.yaml.pieces import Block, Piece, cut, marked, shows_every_cut
from aotloop.statefile.yaml.readback import reads_as_meant
from aotloop.statefile.yaml.sections import SECTION_NAMES, Section, missing_section


class Document:
    def __init__(self, data: bytes, loop: Loop | None = None) -> None:
        """`loop`: what was read from exactly these bytes; None: they are read now."""
        self.is_unusual = False
        """The careful reader was needed, which is slower."""
        self.is_kept = False
        """Many changes will follow."""
        parts = reader.split(data)
        self._head, self._tail = parts.head, parts.tail
        self._take(data, decode_parts(parts) if loop is None else loop)

    def _take(self, data: bytes, loop: Loop) -> None:
        self._text: bytes | None = data
        self.current = loop
        """The loop in this file. It is not to be changed."""
        self._crlf = b"\r\n" in data and (yaml := self._yaml).count(b"\n") == yaml.count(b"\r\n")
        self._top: Block | None = None
        self._sections: list[Section] = []
        self._opened: set[str] = set()
        self._proven = False
        self._anchors: frozenset[bytes] = frozenset()

    @property
    def data(self) -> bytes:
        """The bytes of the file. They are joined when they are asked for."""
        if self._text is None:
            self._text = self._framed(self._parts())
        return self._text

    @property
    def _yaml(self) -> bytes:
        return self.data[len(self._head) : len(self.data) - len(self._tail)]

    def loop(self) -> Loop:
        """A copy to change and to pass back to `revise`."""
        return self.current.snapshot()

    def revise(self, new: Loop) -> bytes:
        """The bytes of the file with the loop `new`. From now on, this document is that file."""
        self._change_to(new)
        return self.data

    def splices_to(self, new: Loop) -> list[Splice] | None:
        """As `revise`, but only what changes in the bytes; None: more than some entries."""
        before = {section.name: section.shown or section.parts() for section in self._sections}
        changed = self._change_to(new)
        if not changed or (before and self._text is None and not self._crlf):
            return list(self._splices_since(before, changed))
        return None

    def _splices_since(self, before: dict[str, list[bytes]], changed: list[str]) -> Iterator[Splice]:
        start = len(self._head) + len(self._top_head)
        for section in self._sections:
            old = before.get(section.name, [])
            if section.name in changed:
                yield from splices_between(old, section.parts(), start)
            start += sum(map(len, old))

    def _change_to(self, new: Loop) -> list[str]:
        """The names of the sections that differ."""
        changed = [name for name in SECTION_NAMES if getattr(self.current, name) != getattr(new, name)]
        if not changed:
            return []
        if not self._opened.issuperset(changed):
            # The first change pays only for its own sections; a second change means that more will follow.
            is_only_one = not (self._opened or self.is_kept)
            self._open(set(changed) if is_only_one else set(SECTION_NAMES))
        try:
            is_sure = self._revise_sections(changed, new)
        except UnicodeEncodeError:  # half of a surrogate pair
            raise _unwritable() from None
        if is_sure:
            self._text, self.current = None, new.snapshot()
        else:
            if self._text is None:
                self._text = self._framed(
                    [self._top_head, *chain(*[section.shown or [] for section in self._sections])]
                )
            self._take(self._read_back(new), new.snapshot())
        return changed

    def _revise_sections(self, names: list[str], new: Loop) -> bool:
        """Whether every written entry was read back and has the intended value."""
        written = [self._section(name).revise(getattr(self.current, name), getattr(new, name)) for name in names]
        entrywise = [section for section in written if section is not None]
        if not self._proven or len(entrywise) < len(written):
            return False
        if not self._anchors and reads_as_meant(entrywise, self._indent):
            return True
        from aotloop.statefile.yaml import excerpt  # noqa: PLC0415 - an ordinary file does not need PyYAML

        return excerpt.read_as_meant(self._sections, entrywise, new, self._indent, self._anchors)

    def _read_back(self, new: Loop) -> bytes:
        """The revised file, if it reads back correctly; otherwise a file that is written completely anew."""
        for make in (self._parts, lambda: self._anew(new)):
            data = self._framed(make())
            if self._reads_as(data, new):
                return data
        raise _unwritable()

    def _open(self, names: set[str]) -> None:
        """Cuts the file into sections, and the named sections into entries."""
        self._opened = names
        yaml, self._sections = self._yaml, []  # the old ones first: a large file in pieces takes room
        top = cut(yaml)
        del yaml
        if top is None or top.kind != "mapping":
            return
        self._sections = [
            Section(
                piece,
                top.indent,
                getattr(self.current, piece.name, None) if piece.name in names else None,
            )
            for piece in top.pieces
        ]
        # Only the names are kept: the lines are in the sections.
        self._top = Block(top.kind, top.indent, top.head, [Piece(piece.name, b"") for piece in top.pieces])
        del top
        text = self._with_marks(self._top)
        found: Any = fast_reader.outline(text)
        if found is None:
            from aotloop.statefile.yaml import excerpt  # noqa: PLC0415 - an ordinary file does not need PyYAML

            self.is_unusual = True
            found = fast_reader.outline(text, in_any_form=True)
            with suppress(StateFileInvalid, RecursionError):  # the whole file is read back then
                found = plain_data(text) if found is None else found
            self._anchors = frozenset(excerpt.names_in(self._sections).anchors)
        self._proven = shows_every_cut(found, self._top) and all(
            section.is_proven(found[section.name]) for section in self._sections
        )

    def _with_marks(self, top: Block) -> bytes:
        return marked(Block(top.kind, top.indent, top.head, [section.marked() for section in self._sections]))

    @property
    def _indent(self) -> int:
        return self._top.indent if self._top is not None else 0

    def _section(self, name: str) -> Section:
        for section in self._sections:
            if section.name == name:
                return section
        self._sections.append(missing_section(name, self._indent))
        return self._sections[-1]

    @property
    def _top_head(self) -> bytes:
        return self._top.head if self._top is not None else b""

    def _parts(self) -> list[bytes]:
        return list(chain([self._top_head], *[section.parts() for section in self._sections]))

    def _framed(self, yaml: list[bytes]) -> bytes:
        if self._crlf:  # new lines end like the others
            yaml = [b"".join(yaml).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")]
        return b"".join([self._head, *yaml, self._tail])

    def _anew(self, new: Loop) -> list[bytes]:
        """All of the YAML, with unknown keys, for files in a style that cannot be revised entry by entry."""
        raw = plain_data(self._yaml)
        carried = overlay(raw, emitter.to_data(self.current), emitter.to_data(new))
        return [emitter.block(carried, 0).encode()]

    def _reads_as(self, data: bytes, loop: Loop) -> bool:
        yaml = data[len(self._head) : len(data) - len(self._tail)]
        try:
            return decode_parts(reader.Parts(self._head, yaml, self._tail)) == loop
        except StateFileInvalid:
            return False


def _unwritable() -> StateFileInvalid:
    return StateFileInvalid(
        "this change cannot be written so that it reads back correctly; nothing was changed",
        hint="Look for characters that YAML cannot hold. If there are none, this is a bug: please report it.",
    )
