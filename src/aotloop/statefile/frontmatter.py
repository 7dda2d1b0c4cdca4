"""Where the YAML of a state file begins and ends. Nothing here looks inside it."""

from __future__ import annotations

import re

import msgspec

from aotloop.core.findings import Finding
from aotloop.errors import StateFileInvalid

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*\r?\n)*---[ \t]*\r?\n")
_CLOSING = re.compile(rb"---[ \t]*\r?(?:\n|\Z)")


class Parts(msgspec.Struct, frozen=True):
    """The three parts joined are the file, byte for byte."""

    head: bytes
    yaml: bytes
    tail: bytes

    @property
    def first_line(self) -> int:
        """The number of the first YAML line in the file, counted from 1."""
        return self.head.count(b"\n") + 1

    def with_yaml(self, yaml: bytes) -> bytes:
        return b"".join((self.head, yaml, self.tail))


def split(data: bytes) -> Parts:
    opening = _OPENING.match(data)
    if opening is None:
        raise _unframed("the file does not begin with a line `---`", line=1)
    start = opening.end()
    end = start
    while _CLOSING.match(data, end) is None:
        end = data.find(b"\n---", end) + 1  # far faster than a pattern that looks at every line
        if end == 0:
            raise _unframed("the YAML is not closed by a line `---`", line=data.count(b"\n") + 1)
    return Parts(head=data[:start], yaml=data[start:end], tail=data[end:])


def _unframed(message: str, line: int) -> StateFileInvalid:
    finding = Finding("error", (), message, line=line, column=1)
    return StateFileInvalid(
        str(finding),
        [finding],
        hint="A state file is YAML between two lines `---`, then the original request.",
    )
