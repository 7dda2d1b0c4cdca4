"""The place of attempts: a separate worktree for each, or one folder for all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from aotloop.agents.contract import Assignment
from aotloop.agents.prompts.attempt_prompt import Start
from aotloop.execution.integration.branch import Branch
from aotloop.execution.isolation.checkout_guard import Watch
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.fence.observation import UNOBSERVED, Observation
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.sandbox import Confinement


class Place(msgspec.Struct, frozen=True, kw_only=True):
    cwd: Path
    worktree: Worktree | None = None
    before: str = ""
    """The fingerprint of protected files, where no git is."""
    confinement: Confinement | None = None
    """The files that no agent may change there."""
    observation: Observation = UNOBSERVED
    """What checks there may not change, although they could."""
    kept: Kept | None = None
    """The work of an earlier attempt that is in the folder now; None: the folder is clean."""


class Refusal(msgspec.Struct, frozen=True):
    """It changed files that it may not change."""

    reason: str


def start_of(place: Place, *, in_place: bool) -> Start:
    """Words for the agent about the folder it finds."""
    if in_place:
        return Start(folder="as it is")
    if (kept := place.kept) is None:
        return Start(folder="fresh")
    return Start(folder="kept", attempt=kept.attempt, held=kept.held, failing=kept.failing)


class Isolation(Protocol):
    isolation: Literal["worktree", "none"]
    branch: Branch | None
    """The branch for merges; None: results are in their final place at once."""

    def head(self) -> str | None:
        """The commit that is checked out in the project's folder. It blocks."""

    async def take(self, commit: str | None = None) -> Place:
        """A place at this commit; None: at the head of the branch."""

    async def go_on(self, name: str, kept: Kept, commit: str | None = None) -> Place:
        """A place with the work of an earlier attempt; clean, if that is impossible. None: at the branch's head."""

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:
        """Watches, during an attempt, whether it stays in its folder."""

    def edited(self, paths: Sequence[str]) -> None:
        """The state file was changed while attempts ran."""

    def to_check(self, commit: str | None) -> AbstractAsyncContextManager[Place]:
        """A place for a check of this commit, that no agent can change; None: of the head of the branch."""

    async def finish(self, place: Place, task: Task) -> Work | Refusal: ...

    async def is_untouched(self, place: Place) -> bool: ...

    async def keep(self, place: Place, task: Task) -> Work | None:
        """Keeps the files as evidence, where they are no result.

        None: no other attempt may start from them, because nothing was changed, or a protected file was.
        """

    async def leave(self, place: Place) -> None: ...

    def close(self) -> None:
        """Call this after the end of the event loop."""
