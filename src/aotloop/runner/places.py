"""Where attempts are made: in worktrees of their own, or all in one place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from aotloop.agents.confinement import Confinement
from aotloop.agents.contract import Assignment
from aotloop.runner.branch import Branch
from aotloop.runner.trespassing import Watch
from aotloop.runner.work import Kept, Label, Work
from aotloop.workspace.desks import Desk


class Place(msgspec.Struct, frozen=True, kw_only=True):
    cwd: Path
    desk: Desk | None = None
    before: str = ""
    """What protected files were like, where no git tells."""
    confinement: Confinement | None = None
    """What nobody who works there may change."""
    kept: Kept | None = None
    """What an earlier attempt left, and what is in the folder now; None: the folder is clean."""


class Refusal(msgspec.Struct, frozen=True):
    """It changed what it may not change."""

    reason: str


class Places(Protocol):
    isolation: Literal["worktree", "none"]
    most: int | None
    """How many attempts may be made at the same time; None: as many as one likes."""
    branch: Branch | None
    """What results are merged into; None: they are where they belong as soon as they are made."""

    def head(self) -> str | None:
        """The commit that is checked out in the project's folder. It blocks."""

    async def take(self, commit: str | None = None) -> Place:
        """At this commit; None: at the head of the branch."""

    async def go_on(self, atom: str, kept: Kept) -> Place:
        """At the head of the branch, with what an attempt left there on top; clean, if that cannot or may not be."""

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:
        """For as long as an attempt is made: whether it stayed where it was put."""

    def edited(self, what: Sequence[str]) -> None:
        """Somebody changed the state file while attempts were made."""

    async def finish(self, place: Place, label: Label) -> Work | Refusal: ...

    async def is_untouched(self, place: Place) -> bool: ...

    async def keep(self, place: Place, label: Label) -> Work | None:
        """What is there is kept as evidence, where nobody takes it for a result. None: no other attempt may start from
        it, because nothing was changed, or what no attempt may change.
        """

    async def leave(self, place: Place) -> None: ...

    def close(self) -> None:
        """When the event loop has ended."""
