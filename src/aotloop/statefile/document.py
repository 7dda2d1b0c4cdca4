"""A state file in memory: its text and the loop that stands in it. A new loop changes only the entries that differ.

Where a revision is not sure of itself, or the cuts between entries could not be proven, the whole new file is read back
before it is accepted. So no text is ever made that does not read as the loop it was made for.
"""

from __future__ import annotations

from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile import emit, fast, frontmatter
from aotloop.statefile.overlay import overlay
from aotloop.statefile.pieces import Block, cut, marked, shows_every_cut
from aotloop.statefile.reading import decode_parts, plain_data
from aotloop.statefile.sections import SECTION_NAMES, Section, missing_section


class Document:
    def __init__(self, data: bytes) -> None:
        self._take(frontmatter.split(data))

    def _take(self, parts: frontmatter.Parts, loop: Loop | None = None) -> None:
        self._parts = parts
        self._loop = loop if loop is not None else decode_parts(parts)
        self._crlf = b"\r\n" in parts.yaml and parts.yaml.count(b"\n") == parts.yaml.count(b"\r\n")
        self._top: Block | None = None
        self._sections: list[Section] = []
        self._opened: set[str] = set()
        self._proven = False

    def loop(self) -> Loop:
        """A copy to change and hand back to `revise`."""
        return self._loop.snapshot()

    def revise(self, new: Loop) -> bytes:
        """The bytes of the file in which `new` stands; from now on, this document is that file."""
        changed = [name for name in SECTION_NAMES if getattr(self._loop, name) != getattr(new, name)]
        if not changed:
            return self._parts.with_yaml(self._parts.yaml)
        if not self._opened.issuperset(changed):
            # Who changes once pays for what it changes; who goes on will change the rest, too.
            self._open(set(changed) if not self._opened else set(SECTION_NAMES))
        sure = self._proven
        try:
            for name in changed:
                sure &= self._section(name).revise(getattr(self._loop, name), getattr(new, name))
        except UnicodeEncodeError:  # half of a surrogate pair
            raise _unwritable() from None
        revised = self._with_yaml(self._text())
        if sure:
            self._parts, self._loop = revised, new.snapshot()
        elif _reads_as(revised, new):
            self._take(revised, new.snapshot())
        else:
            revised = self._written_anew(new)
            self._take(revised, new.snapshot())
        return revised.with_yaml(revised.yaml)

    def _open(self, names: set[str]) -> None:
        """Cuts the file into sections, and these of them into entries."""
        self._opened = names
        top = cut(self._parts.yaml)
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

    def _section(self, name: str) -> Section:
        for section in self._sections:
            if section.name == name:
                return section
        self._sections.append(missing_section(name, self._top.indent if self._top is not None else 0))
        return self._sections[-1]

    def _text(self) -> bytes:
        head = self._top.head if self._top is not None else b""
        return head + b"".join([section.text() for section in self._sections])

    def _with_yaml(self, yaml: bytes) -> frontmatter.Parts:
        if self._crlf:  # new lines end as the others do
            yaml = yaml.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        return frontmatter.Parts(self._parts.head, yaml, self._parts.tail)

    def _written_anew(self, new: Loop) -> frontmatter.Parts:
        """All of the YAML, unknown keys kept: for files in a style that cannot be revised entry by entry."""
        raw = plain_data(self._parts.yaml)
        carried = overlay(raw, emit.to_data(self._loop), emit.to_data(new))
        revised = self._with_yaml(emit.block(carried, 0).encode())
        if not _reads_as(revised, new):
            raise _unwritable()
        return revised


def _unwritable() -> StateFileInvalid:
    return StateFileInvalid(
        "this change cannot be written so that it reads back as it was meant; nothing was changed",
        hint="Look for characters that YAML cannot hold. If there are none, this is a bug: please report it.",
    )


def _reads_as(parts: frontmatter.Parts, loop: Loop) -> bool:
    try:
        return decode_parts(parts) == loop
    except StateFileInvalid:
        return False
