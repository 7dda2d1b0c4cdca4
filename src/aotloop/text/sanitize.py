"""Sanitizing of foreign text, only here: afterwards it cannot control a terminal, and every file can store it.

| function  | lines      | text that cannot be printed           | for                                            |
| --------- | ---------- | ------------------------------------- | ---------------------------------------------- |
| `plain`   | are kept   | is left out                           | prompts, records, the state file               |
| `prose`   | become one | is left out                           | text for a person                              |
| `visible` | become one | is shown as an escape, nothing is lost | text to accept, to copy, or to compare         |
"""

from __future__ import annotations

import re
from functools import cache

_KEPT = "\n\t\u200c\u200d"
"""Also kept: lines, and the joiners in words of some languages and in many emoji."""
_JOINERS = str.maketrans("", "", "\u200c\u200d")


def plain(text: str) -> str:
    """Without escape sequences, control characters, halves of characters, and spaces at the ends of lines."""
    if text.isprintable():
        return text.strip()
    text = _line_breaks().sub("\n", _escape_sequences().sub("", text))
    seen = "".join(map(_seen, text))
    return "\n".join(line.rstrip() for line in seen.split("\n")).strip()


def prose(text: str, *, keep_joiners: bool = True) -> str:
    """As `plain`, on one line, with one space between words. For counted columns, joiners are left out."""
    line = " ".join(plain(text).split())
    return line if keep_joiners else line.translate(_JOINERS)


def visible(text: str) -> str:
    """The complete text on one line. Two different texts are shown differently."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def without_sequences(text: str) -> str:
    """Without colours, cursor movements, titles and similar sequences."""
    return _escape_sequences().sub("", text) if "\x1b" in text or not text.isascii() else text


def _seen(character: str) -> str:
    if character.isprintable() or character in _KEPT:
        return character
    return " " if character.isspace() else ""


@cache  # hooks mostly see printable text, and start without this
def _escape_sequences() -> re.Pattern[str]:
    """An unfinished terminal string hides nothing: only its beginning is removed."""
    return re.compile(
        r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # colours, cursor movements
        r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*+(?:\x07|\x1b\\|\x9c)"  # titles, links
        r"|\x1b[ -/]*+[0-~]"
    )


@cache
def _line_breaks() -> re.Pattern[str]:
    return re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
