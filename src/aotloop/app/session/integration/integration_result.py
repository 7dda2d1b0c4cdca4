"""The results of bringing an atom's work to the branch, and the values that all ways to do so share."""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.app.loops import Permit
from aotloop.app.resolution import Resolution
from aotloop.core.model import Atom, Loop
from aotloop.statefile.store import Store

MOST_ARTIFACTS = 20


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

    def with_artifacts(self, paths: tuple[str, ...]) -> Job:
        """Without named artifacts: the changed paths. A long list is cut, because other agents read it."""
        return self if self.artifacts else msgspec.structs.replace(self, artifacts=paths[:MOST_ARTIFACTS])


class Integrated(msgspec.Struct, frozen=True, kw_only=True):
    """The atom is resolved, and the branch has its work."""

    commit: str | None = None
    """None: there was nothing to commit."""
    resolution: Resolution = Resolution()
    was_done_before: bool = False
    worktree_removed: bool = False
    left: tuple[str, ...] = ()
    """Changes that are not in the commit: work of others, or changes in submodules."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing has landed, and the atom is still in progress."""

    why: Literal["protected", "check", "conflict", "blocked"]
    reason: str
    paths: tuple[str, ...] = ()
    atoms: tuple[str, ...] = ()
    """Atoms whose work it conflicts with."""
    holding: tuple[str, ...] = ()
    """Items of the check that hold with this work and did not hold without it."""

    @property
    def is_failure(self) -> bool:
        return self.why in ("protected", "check")
