"""What a pattern of a file check means, as pure states; no file system here.

`*`, `?` and `[…]` match within one name, `**` as a whole name matches any number of directories; a trailing
`**` is everything below. As in a shell, a name that begins with a dot is matched only by a pattern that
spells the dot, so `**` passes hidden directories by: what tools keep in `.venv` or `.tox` is not the
project's. A name is also matched by the very same text, so `app/[id]/*.tsx` finds the directory called
`[id]`.

A state is a position in the pattern. A directory carries a *set* of states, so that a search visits it
once, however many `**` there are.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

import msgspec

UNSEARCHED = frozenset({".git", ".aot"})
"""Never matched by a wildcard, never looked through. A path without wildcards may name what is in them."""

_MAGIC = re.compile(r"[*?[]")


class Part(msgspec.Struct, frozen=True):
    text: str
    matcher: re.Pattern[str] | None
    """None: the text itself. A pattern that is only `**` has its own meaning, see `is_deep`."""

    @property
    def is_deep(self) -> bool:
        return self.text == "**"

    def matches(self, name: str) -> bool:
        if name == self.text:
            return True
        if self.matcher is None or name in UNSEARCHED or (name.startswith(".") and not self.text.startswith(".")):
            return False
        return self.matcher.match(name) is not None


class Pattern(msgspec.Struct, frozen=True):
    parts: tuple[Part, ...]
    directories_only: bool

    def start(self) -> frozenset[int]:
        return self._settled({0})

    def is_end(self, states: Iterable[int]) -> bool:
        return len(self.parts) in states

    def needs_listing(self, states: Iterable[int]) -> bool:
        return any(self.parts[state].matcher is not None for state in states if state < len(self.parts))

    def goes_on(self, states: Iterable[int]) -> bool:
        return any(state < len(self.parts) for state in states)

    def spelled_out(self, states: Iterable[int]) -> set[str]:
        """The names that these states ask for without a wildcard."""
        return {
            self.parts[state].text for state in states if state < len(self.parts) and self.parts[state].matcher is None
        }

    def step(self, states: Iterable[int], name: str, *, is_link: bool) -> frozenset[int]:
        """The states of an entry of a directory that carries `states`.

        `**` does not go through symbolic links (a single name does): that is how cycles end.
        """
        after: set[int] = set()
        for state in states:
            if state == len(self.parts):
                continue
            part = self.parts[state]
            if not part.is_deep:
                if part.matches(name):
                    after.add(state + 1)
            elif part.matches(name):
                after |= {len(self.parts)} if state + 1 == len(self.parts) else set()
                after |= set() if is_link else {state}
        return self._settled(after)

    def _settled(self, states: set[int]) -> frozenset[int]:
        """`**` may also stand for no directory at all, except as the last part."""
        last = len(self.parts) - 1
        return frozenset(states | {state + 1 for state in states if state < last and self.parts[state].is_deep})


def has_wildcard(text: str) -> bool:
    return _MAGIC.search(text) is not None


def parse(text: str) -> Pattern:
    """Of a relative path; empty names and "." mean nothing."""
    names = [name for name in text.split("/") if name not in {"", "."}]
    parts = []
    for position, name in enumerate(names):
        if name == "**" and position and names[position - 1] == "**":
            continue
        parts.append(Part(name, re.compile(fnmatch.translate(name)) if has_wildcard(name) else None))
    return Pattern(tuple(parts), text.endswith("/"))


def unsearched_part(pattern: Pattern) -> str | None:
    """The directory that the pattern would look through, although nothing there is ever searched."""
    for position, part in enumerate(pattern.parts):
        if part.text in UNSEARCHED and any(later.matcher is not None for later in pattern.parts[position + 1 :]):
            return part.text
    return None
