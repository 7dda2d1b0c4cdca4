"""The tail of a program's output, which usually shows the error."""

from __future__ import annotations

from aotloop.text.sanitize import plain, without_sequences
from aotloop.text.shorten import OVERVIEW, short_line, shorten

_LOOKED_AT = 4096
"""Characters. A longer last line is shown from its middle."""


def last_line(output: str, most: int) -> str:
    """The last line that is not blank."""
    for line in reversed(output[-max(_LOOKED_AT, most) :].splitlines()):
        if words := short_line(line, most):
            return words
    return ""


def last_lines(output: str, most: int) -> str:
    """As many whole lines from the end as fit into `most` characters; of a longer last line, its end."""
    text = plain(output)
    if len(text) <= most:
        return text
    tail = text[-most:]
    return tail.partition("\n")[2].strip() or tail


def terminal_lines(output: str, count: int) -> list[str]:
    """The last lines as a terminal shows them, without overwritten text."""
    text = without_sequences(output).replace("\r\n", "\n")
    lines = [line.rstrip("\r").rpartition("\r")[2].expandtabs() for line in text.rstrip().split("\n")]
    return [shorten("".join(filter(str.isprintable, line)).rstrip(), OVERVIEW) for line in lines[-count:]]
