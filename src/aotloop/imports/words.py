"""Text of other tools is made plain before anything is made of it: one kind of line end, nothing unseen."""

from __future__ import annotations

import re

_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_KEPT = "\n\t\u200c\u200d"
"""Besides what can be printed: lines, and the joiners of which some words and many emoji are made."""


def plain(text: str) -> str:
    text = _BREAKS.sub("\n", text)
    if not text.isprintable():
        text = "".join(one if one.isprintable() or one in _KEPT else " " if one.isspace() else "" for one in text)
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def short(text: str, most: int = 60) -> str:
    """On one line, for messages."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, map(plain, texts)))


def bulleted(title: str, lines: tuple[str, ...]) -> str:
    """Nothing at all without lines."""
    return "\n".join([title, *(f"- {plain(line)}" for line in lines)]) if lines else ""
