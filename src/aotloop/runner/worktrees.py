"""Attempts in worktrees: each starts at the head of the branch, and nothing of it is seen elsewhere until it lands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Literal

from aotloop.agents.confinement import is_possible
from aotloop.agents.contract import Assignment
from aotloop.errors import AotError
from aotloop.runner.branch import Branch
from aotloop.runner.confining import confinement_at
from aotloop.runner.places import Place, Refusal
from aotloop.runner.threads import in_thread, is_called_off
from aotloop.runner.trespassing import Trespassing, Watch, unwatched
from aotloop.runner.work import Kept, Label, Work
from aotloop.workspace import attempts, warm_start
from aotloop.workspace.desks import Desk
from aotloop.workspace.objects import ATOM, ATTEMPT, RUN
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository
from aotloop.workspace.setup import Setup, furnisher, linked

_SHOWN = 5


class Worktrees:
    isolation: Literal["worktree", "none"] = "worktree"
    most: int | None = None

    def __init__(
        self,
        repository: Repository,
        *,
        folder: Path | None,
        setup: Setup,
        protect: Sequence[str],
        never: Sequence[str],
        confines: bool = True,
    ) -> None:
        """`never`: paths from the project's root that no attempt may change, whatever is protected.

        `confines`: the kernel is to keep attempts out of the checkout, if it can.
        """
        self._branch = Branch(repository)
        self.branch: Branch | None = self._branch
        self._repository = repository
        self._pool = Pool(repository, folder, furnisher(setup, is_called_off))
        self._setup = setup
        self._protect = tuple(protect)
        self._never = tuple(never)
        self._confines = confines
        self._trespassing = Trespassing(repository, self._branch, never)

    def head(self) -> str | None:
        return self._repository.head().commit

    async def take(self, commit: str | None = None) -> Place:
        return self._place(await in_thread(partial(self._take, commit)))

    def _place(self, desk: Desk, kept: Kept | None = None) -> Place:
        confinement = confinement_at(desk, linked(desk.repository, self._setup)) if self._confines else None
        return Place(cwd=desk.cwd, desk=desk, confinement=confinement, kept=kept)

    def _take(self, commit: str | None) -> Desk:
        desk = self._pool.take(commit if commit is not None else self._branch.head())
        if is_called_off():  # then nobody waits for it, and nobody would give it back
            self._pool.give_back(desk)
        return desk

    async def go_on(self, atom: str, kept: Kept) -> Place:
        desk, is_there = await in_thread(partial(self._go_on, atom, kept))
        return self._place(desk, kept if is_there else None)

    def _go_on(self, atom: str, kept: Kept) -> tuple[Desk, bool]:
        """What the record says counts only if it is of what is kept: that lies where no attempt can change it."""
        desk = self._pool.take(self._branch.head())
        try:
            commit = warm_start.kept_commit(self._repository, atom=atom, attempt=kept.attempt)
            is_same = commit is not None and commit == kept.commit
            is_there = is_same and warm_start.put_on(desk, commit or "", self._refused)
        except AotError:  # half of it may be there
            self._pool.give_back(desk)
            desk, is_there = self._pool.take(self._branch.head()), False
        if is_called_off():  # as above
            self._pool.give_back(desk)
        return desk, is_there

    def _refused(self, paths: Sequence[str]) -> tuple[str, ...]:
        return attempts.refuse(paths, self._protect, self._never, self._repository.prefix)

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:
        """The kernel keeps a confined one out; and what a person has accepted as a command does what it says."""
        is_kept_out = place.confinement is not None and is_possible()
        return unwatched() if is_kept_out or assignment.command is not None else self._trespassing.watched(assignment)

    def edited(self, what: Sequence[str]) -> None:
        self._trespassing.edited(what)

    async def finish(self, place: Place, label: Label) -> Work | Refusal:
        return await in_thread(partial(self._finish, place, label))

    def _finish(self, place: Place, label: Label) -> Work | Refusal:
        trailers = {ATOM: label.atom, ATTEMPT: str(label.attempt), RUN: label.run_id}
        try:
            done = attempts.commit(_desk(place), label.title, trailers)
        except attempts.NotTakeable as why:
            return Refusal(f"what it left cannot be committed: {why}")
        refused = self._refused(done.paths)
        if done.sha is not None:
            attempts.keep(self._repository, done.sha, atom=label.atom, attempt=label.attempt)
        if refused:
            more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
            return Refusal(f"it changed what no attempt may change: {', '.join(refused[:_SHOWN])}{more}")
        return Work(commit=done.sha, base=done.base, attempt=label.attempt, left_out=done.left_out)

    async def is_untouched(self, place: Place) -> bool:
        with suppress(attempts.NotTakeable):
            return not await in_thread(partial(attempts.changed_paths, _desk(place)))
        return False

    async def keep(self, place: Place, label: Label) -> Work | None:
        with suppress(attempts.NotTakeable):
            return await in_thread(partial(self._keep, place, label))
        return None

    def _keep(self, place: Place, label: Label) -> Work | None:
        done = attempts.left(_desk(place), atom=label.atom, attempt=label.attempt)
        if done.sha is None:
            return None
        attempts.keep(self._repository, done.sha, atom=label.atom, attempt=label.attempt)
        return None if self._refused(done.paths) else Work(commit=done.sha, base=done.base, attempt=label.attempt)

    async def leave(self, place: Place) -> None:
        await in_thread(partial(self._pool.give_back, _desk(place)))

    def close(self) -> None:
        self._pool.close()


def _desk(place: Place) -> Desk:
    if place.desk is None:
        raise AssertionError("a place of this kind has a desk")
    return place.desk
