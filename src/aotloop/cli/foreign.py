"""Text that others wrote (a file, a command, an error) reaches the terminal only through here: it cannot steer it."""

from __future__ import annotations

import re

from rich.cells import cell_len

LONGEST_LINE = 240

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b.?", re.DOTALL)
_JOINERS = "\u200c\u200d"
"""Not printable by themselves, but words of some languages and many emoji are made with them."""


def visible(text: str) -> str:
    """Whole, with unprintable characters as escapes: for what is accepted, copied or told from another like it."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def prose(text: str) -> str:
    """On one line, without escape sequences and other unprintable characters: for what is only read."""
    words = " ".join(_SEQUENCE.sub("", text).split())
    return "".join(character for character in words if character.isprintable() or character in _JOINERS)


def headline(text: str) -> str:
    """For an overview: of more than fits there, the first line. What failed may bring along all that it printed."""
    whole, first = prose(text), prose(text.strip().partition("\n")[0])
    return whole if len(whole) <= LONGEST_LINE or whole == first else f"{first} …"


def last_lines(output: str, count: int) -> list[str]:
    """The end of what a command printed, as a terminal would show it: what a line overwrote is gone."""
    plain = _SEQUENCE.sub("", output).replace("\r\n", "\n")
    lines = [line.rstrip("\r").rpartition("\r")[2].expandtabs() for line in plain.rstrip().split("\n")]
    shown = ["".join(filter(str.isprintable, line)).rstrip() for line in lines[-count:]]
    return [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in shown]


def wrapped(text: str, room: int, first: int | None = None) -> list[str]:
    """Broken between words, the first line maybe shorter; a word longer than the room is left to the terminal."""
    lines: list[str] = []
    left = room if first is None else first
    for word in text.split(" "):
        taken = cell_len(word)
        if lines and taken < left:
            lines[-1] += f" {word}"
            left -= taken + 1
        elif not lines:
            lines.append(word)
            left -= taken
        else:
            lines.append(word)
            left = room - taken
    return lines
