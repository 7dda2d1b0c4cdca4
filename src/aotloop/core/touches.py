"""Whether two sets of path patterns can mean a common path; in doubt they do.

Patterns are those of file checks: `*`, `?` and `[…]` within a name, `**` as a name for any number of directories. What
a pattern matches may be a directory, so it covers everything below as well. Which of these differ from what a file
system does, differ towards overlap: letters are compared regardless of case and of how accents are encoded, `[…]` is
any character, hidden names are names like others, and `..` or an absolute path could lead anywhere.

Both questions, of names in a path and of characters in a name, are one: can two sequences, in which None stands for
any run, be the same? Positions in the second sequence are the bits of a number, so that a step of the first moves all
of them at once; the cost is bounded by the product of the lengths, whatever the patterns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import normalize

Tokens = tuple[str | None, ...]

ANY_ONE = ""
"""The token of one character, whichever."""

ANYWHERE: Tokens = (None,)


def overlap(a: Iterable[str], b: Iterable[str]) -> bool:
    others = [_names(pattern) for pattern in b]
    return any(_paths_meet(_names(pattern), other) for pattern in a for other in others)


def _names(pattern: str) -> Tokens:
    """The names of the path, None for `**`; there always is one at the end, for what lies below."""
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    if pattern.startswith("/") or ".." in names:
        return ANYWHERE
    return _without_double_runs([*(None if name == "**" else name for name in names), None])


def _paths_meet(a: Tokens, b: Tokens) -> bool:
    def fitting(name: str, positions: int) -> int:
        return sum(1 << one for one in _bits(positions) if (other := b[one]) is not None and _names_meet(name, other))

    return _can_be_same(a, b, fitting)


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

    return _can_be_same(a, b, fitting)


def _can_be_same(a: Sequence[str | None], b: Sequence[str | None], fitting: Callable[[str, int], int]) -> bool:
    """`fitting` says at which of these positions of b a token of a can stand."""
    end = 1 << len(b)
    runs = sum(1 << position for position, token in enumerate(b) if token is None)
    reached = 1  # the positions in b where what was read of a can end
    for token in a:
        reached |= (reached & runs) << 1
        if token is None:
            reached = 2 * end - (reached & -reached)  # from the first on, all
        else:
            reached = (fitting(token, reached & ~runs & (end - 1)) << 1) | (reached & runs)
        if not reached:
            return False
    return bool((reached | (reached & runs) << 1) & end)


@lru_cache(maxsize=4096)
def _readings(name: str, is_exact: bool) -> list[Tokens]:
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
    return [pattern, tuple(text)] if "[" in text else [pattern]


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
