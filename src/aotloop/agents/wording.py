"""Text from outside is made plain and short before it goes anywhere: into a state file, a prompt, a terminal."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]"  # colours, cursor movements
    r"|\x1b[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\)"  # titles, links and other strings to the terminal
    r"|\x1b[ -/]*+[0-~]"
    r"|\x9b[0-?]*+[ -/]*+[@-~]"
)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_KEPT = "\n\t\u200c\u200d"
"""Besides what can be printed: lines, and the joiners of which words of some languages and many emoji are made."""

MOST_ARTIFACTS = 100
LONGEST_PATH = 500


def plain(text: str) -> str:
    """Without escape sequences, control characters, and halves of characters that no file can hold."""
    text = _BREAKS.sub("\n", _ESCAPES.sub("", text))
    if not text.isprintable():
        text = "".join(map(_shown, text))
    return text.strip()


def _shown(character: str) -> str:
    if character.isprintable() or character in _KEPT:
        return character
    return " " if unicodedata.category(character) == "Zs" else ""


def cut(text: str, most: int) -> str:
    """At most so many characters; what is left out is counted."""
    if len(text) <= most:
        return text
    note = f" … [{len(text)} characters, cut]"
    return text[: max(0, most - len(note))].rstrip() + note


def one_line(text: str, most: int) -> str:
    return cut(" ".join(plain(text).split()), most)


def last_line(text: str, most: int) -> str:
    """The last line with anything on it."""
    for line in reversed(text.splitlines()):
        if words := one_line(line, most):
            return words
    return ""


def last_lines(text: str, most: int) -> str:
    """As many whole lines from the end as fit; of a longer last line its end."""
    text = plain(text)
    if len(text) <= most:
        return text
    tail = text[-most:]
    return tail.partition("\n")[2].strip() or tail


def artifacts_inside(paths: Iterable[str], root: Path) -> tuple[tuple[str, ...], list[str]]:
    """Paths within the tree, relative to it and each once; and what was dropped, in words."""
    kept: dict[str, None] = {}
    dropped: list[str] = []
    for path in paths:
        tidy = _inside(path, root)
        if tidy is None:
            dropped.append(one_line(path, 80) or "a blank path")
        elif len(kept) < MOST_ARTIFACTS:
            kept[tidy] = None
        elif tidy not in kept:
            dropped.append(tidy)
    return tuple(kept), [_told(dropped)] if dropped else []


def _told(dropped: list[str]) -> str:
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    return f"artifacts dropped, being outside of the folder or too many: {', '.join(dropped[:5])}{more}"


def _inside(path: str, root: Path) -> str | None:
    if not path.strip() or len(path) > LONGEST_PATH or plain(path) != path:
        return None
    try:
        real = os.path.realpath(root)
        whole = os.path.normpath(root / path)
        for top in (os.path.normpath(root), real):
            if whole.startswith(top.rstrip("/") + "/") and os.path.realpath(whole).startswith(real.rstrip("/") + "/"):
                tidy = os.path.relpath(whole, top)
                return None if tidy.split("/")[0] == ".git" else posixpath.normpath(tidy)
    except (OSError, ValueError):
        return None
    return None
