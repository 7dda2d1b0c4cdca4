"""Shortening of shown text, only here. A shortened text says so: with `…`, or with its full length.

Of a program's output, the tail is shown: it usually contains the error.
"""

from __future__ import annotations

from aotloop.text.sanitize import plain, prose, without_sequences

LINE = 160
"""Characters of a text on its own line."""
PHRASE = 60
"""Characters of foreign text within a sentence."""
OVERVIEW = 240
"""Characters of an entry in an overview."""

_LOOKED_AT = 4096
"""Characters at the end of an output. A longer last line is shown from its middle."""


def shorten(text: str, most: int) -> str:
    """At most `most` characters; the last one is `…` if there were more."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def cut(text: str, most: int) -> str:
    """At most `most` characters, with a note of the full length: for agents, and for records."""
    if len(text) <= most:
        return text
    note = f" … [{len(text)} characters, cut]"
    return text[: max(0, most - len(note))].rstrip() + note


def short_line(text: str, most: int = LINE) -> str:
    """Foreign text on one line, for people. Only the part that can be shown is processed."""
    seen = text[: 8 * most]
    line = prose(seen)
    return shorten(line if len(seen) == len(text) else f"{line} …", most)


def whole_words(text: str, most: int) -> str:
    """Foreign text on one line, cut between two words: for titles."""
    line = prose(text)
    words = line[:most].rpartition(" ")[0]
    return f"{words}…" if len(line) > most and words else shorten(line, most)


def one_line(text: str, most: int) -> str:
    """Foreign text on one line, for agents and for records."""
    return cut(prose(text), most)


def headline(text: str) -> str:
    """For an overview: the first line of a text that is too long, because a failure may contain all its output."""
    whole, first = prose(text), prose(text.strip().partition("\n")[0])
    return whole if len(whole) <= OVERVIEW or whole == first else f"{first} …"


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
