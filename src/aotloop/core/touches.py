"""Whether two sets of path patterns can mean a common path; in doubt they do.

Patterns are those of file checks: `*`, `?` and `[…]` within a name, `**` as a name for any number of directories. What
a pattern names may be a directory, then it covers everything below; a name with an extension is taken for a file,
unless there is a slash after it or the other pattern spells it out as a directory. Everything else errs towards
overlap: letters are compared regardless of case and of how accents are encoded, `[…]` is any character, hidden names
are names like others, and `..`, an absolute path or braces, which mean one thing to some tools and another to others,
could lead anywhere.

Both questions, of names in a path and of characters in a name, are one: can two sequences, in which None stands for
any run, be the same? Positions in the second sequence are the bits of a number, so that a step of the first moves all
of them at once; the cost is bounded by the product of the lengths, whatever the patterns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import normalize

Tokens = tuple[str | None, ...]

ANY_ONE = ""
"""The token of one character, whichever."""

ANYWHERE: Tokens = (None,)

_WILD = re.compile(r"[*?]")
_FILE = re.compile(r".+\.[A-Za-z][A-Za-z0-9]*")
"""Without this, `src/a.py` and `**/*.js` had `src/a.py/b.js` in common, and hardly any two atoms could go together."""


def overlap(a: Iterable[str], b: Iterable[str]) -> bool:
    others = [_names(pattern) for pattern in b]
    return any(_paths_meet(_names(pattern), other) for pattern in a for other in others)


def _names(pattern: str) -> Tokens:
    """The names of the path, None for `**` and, if it may be a directory, for what lies below."""
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    if pattern.startswith("/") or ".." in names or "{" in pattern:
        return ANYWHERE
    is_file = bool(names) and not pattern.endswith(("/", "/.")) and _FILE.fullmatch(names[-1]) is not None
    below = [] if is_file else [None]
    return _without_double_runs([*(None if name == "**" else name for name in names), *below])


def _paths_meet(a: Tokens, b: Tokens) -> bool:
    return _is_at_or_in(a, b) or _is_at_or_in(b, a)


def _is_at_or_in(a: Tokens, b: Tokens) -> bool:
    """Whether all of a can be the same as all of b, or as a directory that b spells out."""

    def fitting(name: str, positions: int) -> int:
        return sum(1 << one for one in _bits(positions) if (other := b[one]) is not None and _names_meet(name, other))

    spelled_out = sum(1 << number for number, name in enumerate(b, 1) if name is not None and not _WILD.search(name))
    can_end, last = _ends(a, b, fitting)
    return bool(can_end >> len(b) or last & spelled_out)


@lru_cache(maxsize=4096)
def _names_meet(a: str, b: str) -> bool:
    # A character can be several, once accents are spelled out, so beside such text `?` is any run.
    is_exact = a.isascii() and b.isascii()
    return a == b or any(
        _texts_meet(mine, other) for mine in _readings(a, is_exact) for other in _readings(b, is_exact)
    )


def _texts_meet(a: Tokens, b: Tokens) -> bool:
    places: defaultdict[str, int] = defaultdict(int)
    for position, token in enumerate(b):
        if token is not None:
            places[token] |= 1 << position
    anything = sum(places.values())

    def fitting(character: str, positions: int) -> int:
        return positions & (anything if character == ANY_ONE else places[character] | places[ANY_ONE])

    return bool(_ends(a, b, fitting)[0] >> len(b))


def _ends(a: Tokens, b: Tokens, fitting: Callable[[str, int], int]) -> tuple[int, int]:
    """Up to where b can be the same as all of a; and where, if the last token of a is one of b and not part of a run.

    `fitting` says at which of some positions of b a token can stand.
    """
    end = 1 << len(b)
    runs = sum(1 << position for position, token in enumerate(b) if token is None)
    reached, last = 1, 0
    for token in a:
        reached |= (reached & runs) << 1
        if token is None:
            reached, last = 2 * end - (reached & -reached), 0  # from the first position on, all
        else:
            last = fitting(token, reached & ~runs & (end - 1)) << 1
            reached = last | (reached & runs)
        if not reached:
            break
    return reached | (reached & runs) << 1, last


@lru_cache(maxsize=4096)
def _readings(name: str, is_exact: bool) -> tuple[Tokens, ...]:
    """As a pattern and, as a file check does, as the very text, if it has brackets: `[id]` may be a directory."""
    text = normalize("NFD", normalize("NFD", name).casefold())
    one = ANY_ONE if is_exact else None
    tokens: list[str | None] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "[" and (end := _end_of_class(text, position)) is not None:
            position = end
            tokens.append(one)
        else:
            tokens.append({"*": None, "?": one}.get(character, character))
        position += 1
    pattern = _without_double_runs(tokens)
    return (pattern, tuple(text)) if "[" in text else (pattern,)


def _end_of_class(text: str, start: int) -> int | None:
    """Where `[…]` ends; a bracket right at its beginning is part of it. None: it does not, and means itself."""
    first = start + 2 if text.startswith("!", start + 1) else start + 1
    end = text.find("]", first + 1)
    return end if end > 0 else None


def _without_double_runs(tokens: Sequence[str | None]) -> Tokens:
    return tuple(
        token
        for number, token in enumerate(tokens)
        if token is not None or not number or tokens[number - 1] is not None
    )


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
