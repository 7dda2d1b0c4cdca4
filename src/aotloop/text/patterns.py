"""Only this module knows what a pattern of paths means: `parse` reads it, every user works on what it returns.

    pattern  = ["/"] name {"/" name} ["/"]     empty names and "." mean nothing
    name     = "**"                            any number of directories; at the end: everything below
             | ".."                            the directory above
             | {"*" | "?" | class | character}
    *        any text within a name            ?        one character of a name
    [abc]    one of these; also `[a-z]`, `[]x]`         [!abc]   one character, but none of these

A class without an end is text. A name also means its own text, so `app/[id].tsx` names that file. There is no escape,
and braces are text. A pattern without names is the project itself.

A pattern is read in one of two ways.

- *Find* (file checks, `copy`, `link`, `setup_inputs`): the text as it is written. As in a shell, a wildcard matches a
  name with a dot in front only if the pattern spells the dot. No wildcard matches `.git` and `.aot`. `**` follows no
  symbolic link, and at the end it needs a name. A slash at the end asks for a directory.
- *Cover* (`protect`, `touches`, `scope`): in doubt, the path is meant. Case and the encoding of accents do not matter,
  because on some machines they name the same file. Hidden names are names like others. What a pattern names may be a
  directory, then everything below it is covered. `dir/**` and `dir/` cover `dir` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

import msgspec

UNSEARCHED = frozenset({".git", ".aot"})
"""No wildcard matches these, and no search lists them. A path without wildcards may name what is in them."""

DEEP = "**"
_WILDCARD = re.compile(r"[*?[]")


class Pattern(msgspec.Struct, frozen=True):
    """A state is a position in the pattern. A directory carries a *set* of states.

    So a search visits a directory once, however many `**` there are.
    """

    names: tuple[str, ...]
    is_absolute: bool
    directories_only: bool

    def start(self) -> frozenset[int]:
        return self._settled({0})

    def is_end(self, states: Iterable[int]) -> bool:
        return len(self.names) in states

    def goes_on(self, states: Iterable[int]) -> bool:
        return any(state < len(self.names) for state in states)

    def needs_listing(self, states: Iterable[int]) -> bool:
        return any(has_wildcard(self.names[state]) for state in states if state < len(self.names))

    def spelled_out(self, states: Iterable[int]) -> set[str]:
        """The names that these states ask for without a wildcard."""
        wanted = {self.names[state] for state in states if state < len(self.names)}
        return {name for name in wanted if not has_wildcard(name)}

    def step(self, states: Iterable[int], name: str, *, is_link: bool) -> frozenset[int]:
        """The states of an entry of a directory that carries `states`.

        `**` does not go through symbolic links (a single name does): that is how cycles end.
        """
        after: set[int] = set()
        for state in states:
            if state == len(self.names) or not _finds(self.names[state], name):
                continue
            if self.names[state] != DEEP:
                after.add(state + 1)
                continue
            after |= {len(self.names)} if state + 1 == len(self.names) else set()
            after |= set() if is_link else {state}
        return self._settled(after)

    def _settled(self, states: set[int]) -> frozenset[int]:
        """`**` may also stand for no directory at all, except as the last name."""
        last = len(self.names) - 1
        return frozenset(states | {state + 1 for state in states if state < last and self.names[state] == DEEP})

    def unsearched_name(self) -> str | None:
        """The directory that the pattern would look through, although no search lists it."""
        for position, name in enumerate(self.names):
            if name in UNSEARCHED and any(map(has_wildcard, self.names[position + 1 :])):
                return name
        return None


@lru_cache(maxsize=1024)
def parse(text: str) -> Pattern:
    names = [name for name in text.split("/") if name not in {"", "."}]
    single = [name for number, name in enumerate(names) if not (number and name == names[number - 1] == DEEP)]
    return Pattern(tuple(single), text.startswith("/"), text.endswith("/"))


def has_wildcard(text: str) -> bool:
    return _WILDCARD.search(text) is not None


def end_of_class(name: str, start: int) -> int | None:
    """Where the class that `start` opens ends; a bracket right at its beginning is part of it. None: it is text."""
    first = start + 2 if name.startswith("!", start + 1) else start + 1
    end = name.find("]", first + 1)
    return end if end > 0 else None


def matching(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Those of the paths, seen from the project, that some pattern covers."""
    wanted = [_resolved(parse(pattern).names) for pattern in patterns]
    return [path for path in paths if any(_cover(names, path) for names in wanted)]


def _resolved(names: Iterable[str]) -> tuple[str, ...]:
    """Without the `..` that a name before it undoes. What is above `**` is also some directory."""
    kept: list[str] = []
    for name in names:
        if name != ".." or not kept or kept[-1] == "..":
            kept.append(name)
        elif kept[-1] != DEEP:
            kept.pop()
    return tuple(name for number, name in enumerate(kept) if not (number and name == kept[number - 1] == DEEP))


def _cover(pattern: tuple[str, ...], path: str) -> bool:
    """Positions in the pattern are followed all at once: the cost is bounded by the product of the lengths."""
    end = len(pattern)
    reached = {0}
    for name in path.split("/"):
        reached |= {position + 1 for position in reached if position < end and pattern[position] == DEEP}
        if end in reached:
            return True
        if name in {"", "."}:
            continue
        reached = {
            position if pattern[position] == DEEP else position + 1
            for position in reached
            if pattern[position] == DEEP or _covers(pattern[position], name)
        }
    return end in reached or (end - 1 in reached and pattern[-1] == DEEP)


def _finds(pattern: str, name: str) -> bool:
    if name == pattern:
        return True
    if not has_wildcard(pattern) or name in UNSEARCHED or (name.startswith(".") and not pattern.startswith(".")):
        return False
    return _expression(pattern).match(name) is not None


@lru_cache(maxsize=4096)
def _covers(pattern: str, name: str) -> bool:
    wanted, folded = fold(pattern), fold(name)
    if wanted == folded or _expression(wanted).match(folded) is not None:
        return True
    # `[!a]` and `[Z-a]` mean other letters once case is gone, so they are also read as written. Not where folding
    # changes the number of characters: then `?` and `??` would cover a common name, which `touches` could not see.
    is_even = list(folded) == [character.casefold() for character in name]
    return is_even and _expression(pattern).match(name) is not None


def fold(text: str, form: Literal["NFC", "NFD"] = "NFC") -> str:
    """The same for all spellings that can name the same file; in NFD, accents are characters of their own."""
    if text.isascii():
        return text.lower()
    from unicodedata import normalize  # noqa: PLC0415 - a library that most patterns do not need

    return normalize(form, normalize("NFC", text).casefold())


@lru_cache(maxsize=1024)
def _expression(pattern: str) -> re.Pattern[str]:
    from fnmatch import translate  # noqa: PLC0415 - where patterns are only compared, none is needed

    return re.compile(translate(pattern))
