"""Which paths a pattern of the person means: `*`, `?` and `[…]` within a name, `**` as a name for any directories.

What a pattern names may be a directory, then it covers everything below. Letters are compared regardless of case and
of how accents are encoded: on some machines they are the same file. A name with brackets also means itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from unicodedata import normalize

ANY = "**"


def matching(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    wanted = [_names(pattern) for pattern in patterns]
    return [path for path in paths if any(_covers(names, _text(path).split("/")) for names in wanted)]


def _names(pattern: str) -> list[str]:
    names = posixpath.normpath(_text(pattern).strip("/")).split("/")
    return [name for name, after in zip(names, [*names[1:], ""], strict=True) if not name == after == ANY]


def _covers(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Positions in the pattern are followed all at once: the cost is bounded by the product of the lengths."""
    reached = {0}
    for name in names:
        reached |= {position + 1 for position in reached if position < len(pattern) - 1 and pattern[position] == ANY}
        reached = {
            after
            for position in reached
            for after in ((position, position + 1) if pattern[position] == ANY else (position + 1,))
            if pattern[position] == ANY or _fits(pattern[position], name)
        }
        if len(pattern) in reached:
            return True
    return False


@lru_cache(maxsize=4096)
def _fits(pattern: str, name: str) -> bool:
    return pattern == name or _expression(pattern).match(name) is not None


@lru_cache(maxsize=1024)
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _text(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())
