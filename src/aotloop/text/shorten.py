"""Shortening of shown text, only here. A shortened text says so: with `…`, or with its full length."""

from __future__ import annotations

from aotloop.text.sanitize import prose

LINE = 160
"""Characters of a text on its own line."""
PHRASE = 60
"""Characters of foreign text within a sentence."""
OVERVIEW = 240
"""Characters of an entry in an overview."""


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
