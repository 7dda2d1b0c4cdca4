"""Whether two sets of path patterns can match a common path. In doubt, the answer is yes.

What a pattern means is said in `text.patterns`; `touches` are read to cover. Beyond that, a name with an extension is
taken for a file, unless there is a slash after it or the other pattern spells it out as a directory. Everything else
errs towards overlap: `[…]` is any character; `..`, an absolute path or braces, which mean one thing to some tools and
another to others, could lead anywhere.

Names in a path and characters in a name raise the same question: can two sequences, in which None stands for any run,
be equal? Positions in the second sequence are the bits of a number, so one step of the first sequence moves all of them
at once. The cost is bounded by the product of the lengths for all patterns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from aotloop.text.patterns import DEEP, end_of_class, fold, parse

Tokens = tuple[str | None, ...]

ANY_ONE = ""
"""The token for exactly one character of any kind."""

ANYWHERE: Tokens = (None,)

_WILD = re.compile(r"[*?]")
_FILE = re.compile(r".+\.[A-Za-z][A-Za-z0-9]*")
"""Without this rule, `src/a.py` and `**/*.js` would share `src/a.py/b.js`, and almost no two atoms could run together.
"""


def overlap(a: Iterable[str], b: Iterable[str]) -> bool:
    others = [_names(pattern) for pattern in b]
    return any(_paths_meet(_names(pattern), other) for pattern in a for other in others)


def _names(pattern: str) -> Tokens:
    """The names of the path, None for `**` and, if it may be a directory, for what lies below."""
    parsed = parse(pattern)
    names = parsed.names
    if parsed.is_absolute or ".." in names or "{" in pattern:
        return ANYWHERE
    is_file = bool(names) and not pattern.endswith(("/", "/.")) and _FILE.fullmatch(names[-1]) is not None
    below = [] if is_file else [None]
    return _without_double_runs([*(None if name == DEEP else name for name in names), *below])


def _paths_meet(a: Tokens, b: Tokens) -> bool:
    return _is_at_or_in(a, b) or _is_at_or_in(b, a)


def _is_at_or_in(a: Tokens, b: Tokens) -> bool:
    """Whether a can equal all of b, or a directory that b names explicitly."""

    def fitting(name: str, positions: int) -> int:
        return sum(
            1 << position
            for position in _bits(positions)
            if (other := b[position]) is not None and _names_meet(name, other)
        )

    spelled_out = sum(1 << number for number, name in enumerate(b, 1) if name is not None and not _WILD.search(name))
    can_end, last = _ends(a, b, fitting)
    return bool(can_end >> len(b) or last & spelled_out)


@lru_cache(maxsize=4096)
def _names_meet(a: str, b: str) -> bool:
    # One character can become several when accents are decomposed, so beside such text `?` matches any run.
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
    """The positions of b up to which b can equal all of a; and those where the last token of a is a token of b, not a
    run.

    `fitting` says at which of the given positions of b a token can stand.
    """
    end = 1 << len(b)
    runs = sum(1 << position for position, token in enumerate(b) if token is None)
    reached, last = 1, 0
    for token in a:
        reached |= (reached & runs) << 1
        if token is None:
            reached, last = 2 * end - (reached & -reached), 0  # all positions from the first one on
        else:
            last = fitting(token, reached & ~runs & (end - 1)) << 1
            reached = last | (reached & runs)
        if not reached:
            break
    return reached | (reached & runs) << 1, last


@lru_cache(maxsize=4096)
def _readings(name: str, is_exact: bool) -> tuple[Tokens, ...]:
    """As a pattern and, as a file check does, as the very text, if it has brackets: `[id]` may be a directory."""
    text = fold(name, "NFD")
    single = ANY_ONE if is_exact else None
    tokens: list[str | None] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "[" and (end := end_of_class(text, position)) is not None:
            position = end
            tokens.append(single)
        else:
            tokens.append({"*": None, "?": single}.get(character, character))
        position += 1
    pattern = _without_double_runs(tokens)
    return (pattern, tuple(text)) if "[" in text else (pattern,)


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
