"""Where a turn is made: in a worktree like any attempt; what it leaves is looked at before it is taken as a result.

No turn changes what is protected in this phase, which later phases protect more of than earlier ones; one that only
looks changes nothing but the document it writes. What failed so far goes into the project's log of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Literal

import msgspec

from aotloop.agents.contract import Assignment
from aotloop.core.phases.model import Phase
from aotloop.phases.progress import note_failed
from aotloop.runner.branch import Branch
from aotloop.runner.places import Place, Refusal
from aotloop.runner.threads import in_thread
from aotloop.runner.trespassing import Watch
from aotloop.runner.work import Kept, Label, Work
from aotloop.runner.worktrees import Worktrees
from aotloop.workspace import attempts
from aotloop.workspace.repository import Repository

_SHOWN = 5


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Of one turn. Paths are seen from the project's root."""

    protect: tuple[str, ...] = ()
    document: str | None = None
    """The only file that it writes, or one beside it in its place; None: it may write others."""
    log: str | None = None
    failed: tuple[tuple[Phase, str], ...] = ()
    """What has to be in the log."""


class PhasePlaces:
    isolation: Literal["worktree", "none"] = "worktree"
    most: int | None = 1

    def __init__(self, worktrees: Worktrees, repository: Repository) -> None:
        self._worktrees = worktrees
        self._repository = repository
        self.branch: Branch | None = worktrees.branch
        self.rules = Rules()
        """Of the turn that is made now."""

    def head(self) -> str | None:
        return self._worktrees.head()

    async def take(self, commit: str | None = None) -> Place:
        return await self._worktrees.take(commit)

    async def go_on(self, atom: str, kept: Kept) -> Place:  # noqa: ARG002 - each turn starts from the branch
        return await self.take()

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:
        return self._worktrees.watched(place, assignment)

    def edited(self, what: Sequence[str]) -> None:
        self._worktrees.edited(what)

    async def finish(self, place: Place, label: Label) -> Work | Refusal:
        refusal = await in_thread(partial(self._refusal, place, self.rules))
        return refusal if refusal is not None else await self._worktrees.finish(place, label)

    async def is_untouched(self, place: Place) -> bool:
        return await self._worktrees.is_untouched(place)

    async def keep(self, place: Place, label: Label) -> Work | None:
        return await self._worktrees.keep(place, label)

    async def leave(self, place: Place) -> None:
        await self._worktrees.leave(place)

    def close(self) -> None:
        self._worktrees.close()

    def _refusal(self, place: Place, rules: Rules) -> Refusal | None:
        if place.desk is None:
            raise AssertionError("a worktree has a desk")
        try:
            changed = attempts.changed_paths(place.desk)
        except attempts.NotTakeable as why:
            return Refusal(f"what it left cannot be committed: {why}")
        prefix = self._repository.prefix
        if refused := attempts.refuse(changed, rules.protect, (), prefix):
            return Refusal(f"it changed what was agreed on and is protected: {_named(refused)}")
        seen = [posixpath.relpath(path, prefix or ".") for path in changed]
        if rules.document is not None and (others := _besides(rules.document, seen)):
            return Refusal(f"it was to look, and to change nothing but {rules.document}: it changed {_named(others)}")
        self._note_failed(place, rules)
        return None

    def _note_failed(self, place: Place, rules: Rules) -> None:
        """Not where the agent has put a link: what it leads to is none of the worktree's."""
        if rules.log is None or not rules.failed:
            return
        root = place.cwd.resolve()
        log = root / rules.log
        if log.resolve() == log and log.is_relative_to(root):
            note_failed(root, rules.log, rules.failed)


def _besides(document: str, changed: Sequence[str]) -> list[str]:
    """One document is enough: under the name that was wanted, or another one in the same folder."""
    if document in changed:
        return [path for path in changed if path != document]
    folder = posixpath.dirname(document)
    if len(changed) == 1 and posixpath.dirname(changed[0]) == folder:
        return []
    return list(changed)


def _named(paths: Iterable[str]) -> str:
    shown = list(paths)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"{', '.join(shown[:_SHOWN])}{more}"
