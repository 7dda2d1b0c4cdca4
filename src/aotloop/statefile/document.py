"""A state file in memory: its text and the loop that stands in it. A new loop changes only the entries that differ.

Where a revision is not sure of itself, or the cuts between entries could not be proven, the whole new file is read back
before it is accepted. So no text is ever made that does not read as the loop it was made for.
"""

from __future__ import annotations

from itertools import chain

from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile import emit, fast, frontmatter
from aotloop.statefile.overlay import overlay
from aotloop.statefile.pieces import Block, cut, marked, shows_every_cut
from aotloop.statefile.readback import reads_as_meant
from aotloop.statefile.reading import decode_parts, plain_data
from aotloop.statefile.sections import SECTION_NAMES, Section, missing_section


class Document:
    def __init__(self, data: bytes) -> None:
        parts = frontmatter.split(data)
        self._head, self._tail = parts.head, parts.tail
        self._take(data, decode_parts(parts))

    def _take(self, data: bytes, loop: Loop) -> None:
        self._data = data
        self._loop = loop
        self._crlf = b"\r\n" in data and (yaml := self._yaml).count(b"\n") == yaml.count(b"\r\n")
        self._top: Block | None = None
        self._sections: list[Section] = []
        self._opened: set[str] = set()
        self._proven = False

    @property
    def _yaml(self) -> bytes:
        return self._data[len(self._head) : len(self._data) - len(self._tail)]

    def loop(self) -> Loop:
        """A copy to change and hand back to `revise`."""
        return self._loop.snapshot()

    def revise(self, new: Loop) -> bytes:
        """The bytes of the file in which `new` stands; from now on, this document is that file."""
        changed = [name for name in SECTION_NAMES if getattr(self._loop, name) != getattr(new, name)]
        if not changed:
            return self._data
        if not self._opened.issuperset(changed):
            # Who changes once pays for what it changes; who goes on will change the rest, too.
            self._open(set(changed) if not self._opened else set(SECTION_NAMES))
        try:
            is_sure = self._revise_sections(changed, new)
        except UnicodeEncodeError:  # half of a surrogate pair
            raise _unwritable() from None
        if is_sure:
            self._data, self._loop = self._framed(self._parts()), new.snapshot()
        else:
            self._take(self._read_back(new), new.snapshot())
        return self._data

    def _revise_sections(self, names: list[str], new: Loop) -> bool:
        """Whether every entry that was written has been read back, and is what it was meant to be."""
        written = [self._section(name).revise(getattr(self._loop, name), getattr(new, name)) for name in names]
        entrywise = [one for one in written if one is not None]
        if not self._proven or len(entrywise) < len(written):
            return False
        return reads_as_meant(entrywise, self._indent) or all(one.reads_alone() for one in entrywise)

    def _read_back(self, new: Loop) -> bytes:
        """The file as revised, if that reads as it should; else written anew."""
        for make in (self._parts, lambda: self._anew(new)):
            data = self._framed(make())
            if self._reads_as(data, new):
                return data
        raise _unwritable()

    def _open(self, names: set[str]) -> None:
        """Cuts the file into sections, and these of them into entries."""
        self._opened = names
        top = cut(self._yaml)
        if top is None or top.kind != "mapping":
            return
        self._top = top
        self._sections = [
            Section(
                piece,
                top.indent,
                getattr(self._loop, piece.name, None) if piece.name in names else None,
            )
            for piece in top.pieces
        ]
        with_marks = Block(top.kind, top.indent, top.head, [section.marked() for section in self._sections])
        found = fast.generic(marked(with_marks))
        self._proven = shows_every_cut(found, with_marks) and all(
            section.is_proven(found[section.name]) for section in self._sections
        )

    @property
    def _indent(self) -> int:
        return self._top.indent if self._top is not None else 0

    def _section(self, name: str) -> Section:
        for section in self._sections:
            if section.name == name:
                return section
        self._sections.append(missing_section(name, self._indent))
        return self._sections[-1]

    def _parts(self) -> list[bytes]:
        head = self._top.head if self._top is not None else b""
        return list(chain([head], *[section.parts() for section in self._sections]))

    def _framed(self, yaml: list[bytes]) -> bytes:
        if self._crlf:  # new lines end as the others do
            yaml = [b"".join(yaml).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")]
        return b"".join([self._head, *yaml, self._tail])

    def _anew(self, new: Loop) -> list[bytes]:
        """All of the YAML, unknown keys kept: for files in a style that cannot be revised entry by entry."""
        raw = plain_data(self._yaml)
        carried = overlay(raw, emit.to_data(self._loop), emit.to_data(new))
        return [emit.block(carried, 0).encode()]

    def _reads_as(self, data: bytes, loop: Loop) -> bool:
        yaml = data[len(self._head) : len(data) - len(self._tail)]
        try:
            return decode_parts(frontmatter.Parts(self._head, yaml, self._tail)) == loop
        except StateFileInvalid:
            return False


def _unwritable() -> StateFileInvalid:
    return StateFileInvalid(
        "this change cannot be written so that it reads back as it was meant; nothing was changed",
        hint="Look for characters that YAML cannot hold. If there are none, this is a bug: please report it.",
    )
