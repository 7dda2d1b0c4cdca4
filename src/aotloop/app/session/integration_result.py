"""What can come of bringing an atom's work to the branch, and what all ways to do so need to know."""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.app.loops import Permit
from aotloop.app.resolution import Resolution
from aotloop.core.model import Atom, Loop
from aotloop.statefile.store import Store


class Job(msgspec.Struct, frozen=True, kw_only=True):
    store: Store
    loop: Loop
    """As it was when this began."""
    atom: Atom
    run_id: str
    summary: str
    artifacts: tuple[str, ...]
    permit: Permit
    timeout: float


class Integrated(msgspec.Struct, frozen=True, kw_only=True):
    """The atom is resolved, and the branch has its work."""

    commit: str | None = None
    """None: there was nothing to commit."""
    resolution: Resolution = Resolution()
    was_done_before: bool = False
    worktree_removed: bool = False
    left: tuple[str, ...] = ()
    """What is not in the commit though it differs: of others, or in submodules."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing has landed, and the atom is still in progress."""

    why: Literal["protected", "check", "conflict", "blocked"]
    reason: str
    paths: tuple[str, ...] = ()
    atoms: tuple[str, ...] = ()
    """Whose work it conflicts with."""
    holding: tuple[str, ...] = ()
    """Of the check: items that hold with this work and did not without."""

    @property
    def is_failure(self) -> bool:
        return self.why in ("protected", "check")
