"""Which paths a pattern of the person means: `*`, `?` and `[…]` within a name, `**` as a name for any directories.

What a pattern names may be a directory, then it covers everything below. Letters are compared regardless of case and
of how accents are encoded: on some machines they are the same file. A pattern with brackets also means itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from unicodedata import normalize

_PIECE = re.compile(r"(?P<any>\*+)|(?P<one>\?)|\[(?P<not>!?)(?P<class>\]?[^\]]*)\]|(?P<text>.)", re.DOTALL)


def matching(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """A slash is put at the end of each path, so that a directory and what is in it look alike."""
    expressions = [expression for pattern in patterns for expression in _expressions(pattern)]
    return [path for path in paths if any(one.match(f"{_text(path)}/") for one in expressions)]


@lru_cache(maxsize=1024)
def _expressions(pattern: str) -> tuple[re.Pattern[str], ...]:
    text = posixpath.normpath(_text(pattern).strip("/"))
    found = [re.compile("".join(_parts(text.split("/"))), re.DOTALL)] if text != "." else []
    return (*found, re.compile(re.escape(f"{text}/"))) if "[" in text else tuple(found)


def _parts(names: list[str]) -> Iterator[str]:
    for number, name in enumerate(names):
        if name != "**":
            yield f"{''.join(map(_piece, _PIECE.finditer(name)))}/"
        elif number == len(names) - 1:
            yield "[^/]+/"  # what is in a directory, not the directory
        elif names[number + 1] != "**":
            yield "(?:[^/]+/)*"


def _piece(found: re.Match[str]) -> str:
    if found["any"]:
        return "[^/]*"
    if found["one"]:
        return "[^/]"
    if found["text"]:
        return re.escape(found["text"])
    inside = re.sub(r"([\\\[\]&~|^])", r"\\\1", found["class"])
    expression = f"(?!/)[{'^' if found['not'] else ''}{inside}]"
    try:
        re.compile(expression)
    except re.error:  # a range that runs backwards
        return re.escape(found[0])
    return expression


def _text(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())
