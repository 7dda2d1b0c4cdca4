"""What a loop asks for: wishes in the imperative, carried out by whoever drives it."""

from __future__ import annotations

import msgspec


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    pass


class CheckParent(Effect, frozen=True, kw_only=True):
    """All children of this atom are resolved; run its own check and report AtomResolved, or AtomFailed."""

    atom: str


class Resolved(Effect, frozen=True, kw_only=True):
    """Tell whoever watches that this atom was resolved by what happened (a parent by its last child)."""

    atom: str


class Backtracked(Effect, frozen=True, kw_only=True):
    """Tell whoever watches that a group switched, and which atoms were reset by it."""

    or_group: str
    left: str
    selected: str
    reset: tuple[str, ...]


class Retry(Effect, frozen=True, kw_only=True):
    """The atom may be tried again, differently: `attempts` have failed of the `allowed`."""

    atom: str
    attempts: int
    allowed: int


class Exhausted(Effect, frozen=True, kw_only=True):
    """Nothing is left to try for this atom."""

    atom: str


class Added(Effect, frozen=True, kw_only=True):
    """These atoms came into being, with these ids."""

    atoms: tuple[str, ...]
