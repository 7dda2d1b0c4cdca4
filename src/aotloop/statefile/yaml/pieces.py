"""Pieces: cuts YAML text into the lines of its entries, and proves the cuts, so that one entry can be replaced alone.

The cutting follows the indentation and is only a guess: a multi-line text may contain lines that look like entries. The
proof is one parse: a marker entry is inserted at every cut, and each marker must appear as a separate entry.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

KEY = re.compile(
    rb"""(?: "((?:[^"\\\n]|\\.)*)" | '((?:[^'\n]|'')*)' | ([^\s\#"'\[\]{},&*!|>%@`-][^\n]*?|-[^\s][^\n]*?) )
    [ ]*:(?=[ \r\n]|\Z)""",
    re.VERBOSE,
)
_FIRST_ENTRY = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?P<indent> *)(?:(?P<dash>-)(?=[ \r\n])|(?=[^\s#]))")
_MARKER = b"aot:cut"
_STRETCH = 16


class Piece(msgspec.Struct):
    """One entry: its own lines, and the blank and comment lines between it and the next."""

    name: str
    lines: bytes
    gap: bytes = b""


class Block(msgspec.Struct):
    """A mapping (pieces named by key) or a list (pieces named by number), as consecutive lines."""

    kind: str
    indent: int
    head: bytes
    pieces: list[Piece]
    joined: list[bytes | None] | None = None
    """The text of every stretch of pieces, stored because a block may have thousands and only one changes."""

    def parts(self) -> list[bytes]:
        if self.joined is None:
            self.joined = [None] * -(-len(self.pieces) // _STRETCH)
        joined = self.joined
        return [self.head, *[self._join(place, joined) if text is None else text for place, text in enumerate(joined)]]

    def text(self) -> bytes:
        return b"".join(self.parts())

    def _join(self, place: int, joined: list[bytes | None]) -> bytes:
        stretch = self.pieces[place * _STRETCH : (place + 1) * _STRETCH]
        text = b"".join([piece.lines + piece.gap for piece in stretch])
        joined[place] = text
        return text

    def put(self, number: int, lines: bytes) -> None:
        self.pieces[number].lines = lines
        if self.joined is not None:
            self.joined[number // _STRETCH] = None

    def append(self, name: str) -> None:
        """Adds a new, empty entry before the blank lines and comments that belong to the next part."""
        gap = b""
        if self.pieces:
            gap, self.pieces[-1].gap = self.pieces[-1].gap, b""
        self.pieces.append(Piece(name, b"", gap))
        if self.joined is not None:
            del self.joined[max(0, len(self.pieces) - 2) // _STRETCH :]
            self.joined += [None] * (-(-len(self.pieces) // _STRETCH) - len(self.joined))

    def arrange(self, sources: list[int | None], names: list[str]) -> None:
        """Arranges the entries in a new order, by their old numbers; None is a new entry.
        Comments between them stay.
        """
        old = self.pieces
        self.pieces, self.joined = [], None
        for source, name in zip(sources, names, strict=True):
            if source is None:
                self.append(name)
            else:
                self.pieces.append(old[source])
        kept = {source for source in sources if source is not None}
        for number, piece in enumerate(old):
            if number not in kept and piece.gap.strip():
                before = [old[index] for index in range(number) if index in kept]
                if before:
                    before[-1].gap += piece.gap
                else:
                    self.head += piece.gap


def cut(text: bytes) -> Block | None:
    """The lines of one mapping or list, cut into pieces; None if they are neither (in block style)."""
    first = _FIRST_ENTRY.match(text)
    if first is None:
        return None
    indent = len(first["indent"])
    is_list = first["dash"] is not None
    start_of_entry = _entry_pattern(indent, is_list=is_list)
    starts = [found.start() for found in start_of_entry.finditer(text, first.start("indent"))]
    if not starts or starts[0] != first.start("indent"):
        return None
    pieces = []
    for order, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        last = _without_filler(text, start, end, indent)
        name = str(order) if is_list else key_name(text, start + indent)
        if name is None:
            return None
        pieces.append(Piece(name, text[start:last], text[last:end]))
    return Block("list" if is_list else "mapping", indent, text[: starts[0]], pieces)


def _entry_pattern(indent: int, *, is_list: bool) -> re.Pattern[bytes]:
    """A list may have the same indentation as its key, so a dash never begins an entry of a mapping."""
    begins = rb"-(?=[ \r\n])" if is_list else rb"(?=[^\s#\]}-]|-[^\s])"
    return re.compile(rb"^ {%d}" % indent + begins, re.MULTILINE)


def _without_filler(text: bytes, start: int, end: int, indent: int) -> int:
    """The end of an entry without the blank lines and comments behind it."""
    while (line := text.rfind(b"\n", start, end - 1) + 1) > start and _is_filler(text[line:end], at_most=indent):
        end = line
    return end


def marked(block: Block) -> bytes:
    """The block's text with a marker entry before every piece."""
    space = b" " * block.indent
    form = space + (b'- "%s%d"\n' if block.kind == "list" else b'"%s%d": 0\n')
    return block.head + b"".join(
        [form % (_MARKER, number) + piece.lines + piece.gap for number, piece in enumerate(block.pieces)]
    )


def shows_every_cut(found: Any, block: Block) -> bool:
    """Whether the parsed block alternates between markers and entries. Then every cut is real."""
    markers = [f"{_MARKER.decode()}{number}" for number in range(len(block.pieces))]
    if block.kind == "list":
        return isinstance(found, list) and found[::2] == markers and len(found) == 2 * len(markers)
    names = [piece.name for piece in block.pieces]
    return isinstance(found, dict) and list(found)[::2] == markers and list(found)[1::2] == names


def split_value(lines: bytes, indent: int) -> tuple[bytes, bytes] | None:
    """Splits a `key:` line from the block below it; None for any other value."""
    first, _, rest = lines.partition(b"\n")
    key = KEY.match(first, indent)
    if key is None or not rest.strip() or not _is_filler(first[key.end() :]):
        return None
    return first + b"\n", rest


def open_item(lines: bytes, indent: int) -> bytes:
    """The lines of a list entry with a space instead of the dash: a mapping, if the entry is one."""
    return lines[:indent] + b" " + lines[indent + 1 :]


def close_item(lines: bytes, indent: int) -> bytes:
    return lines[:indent] + b"-" + lines[indent + 1 :]


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))


def _is_filler(line: bytes, at_most: int | None = None) -> bool:
    """A blank line, or a comment that is not indented deeper than `at_most`; deeper ones belong to the entry above."""
    stripped = line.strip()
    if not stripped:
        return True
    return stripped.startswith(b"#") and (at_most is None or _indent(line) <= at_most)


def key_name(text: bytes, position: int) -> str | None:
    """The key at a position; None if there is none, or if only a parser can tell."""
    found = KEY.match(text, position)
    if found is None:
        return None
    double, single, plain = found.groups()
    if double is not None:
        try:
            return str(msgspec.json.decode(b'"' + double + b'"'))
        except msgspec.DecodeError:
            return None
    return (plain if single is None else single.replace(b"''", b"'")).decode(errors="replace")
