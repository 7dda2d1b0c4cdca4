"""What an attempt did, and whose work it is."""

from __future__ import annotations

import msgspec


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """Whose work it is."""

    atom: str
    attempt: int
    run_id: str
    title: str
    """One line, for the history."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt did, safe from whatever happens to the place; `commit` None: nothing that could be merged."""

    commit: str | None = None
    base: str | None = None
    is_checked: bool = False
    attempt: int = 0
    """Under which number it was made, which is not always the number under which it is merged."""
    left_out: tuple[str, ...] = ()


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What is known, when an attempt has failed, of where the next one at its atom starts. `commit` None: clean."""

    commit: str | None = None
    attempt: int = 0
    """Which one left it; not always the last."""
    held: tuple[str, ...] = ()
    """Parts of the atom's check."""
    failing: dict[str, str] = {}
    """Part of the check → evidence, shortened."""
    in_vain: int = 0
    """Attempts in a row that started from it and got no further."""
