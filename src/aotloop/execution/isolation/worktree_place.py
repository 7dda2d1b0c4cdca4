"""Attempts in worktrees: each starts at the head of the branch, and its work is invisible elsewhere until it lands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Literal

from aotloop.agents.contract import Assignment
from aotloop.errors import AotError
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.protection import Protection, settings_in, words_for
from aotloop.execution.isolation.check_trees import CheckTree, CheckTrees
from aotloop.execution.isolation.checkout_guard import CheckoutGuard, Watch, confinement_at, unwatched
from aotloop.execution.isolation.place import Place, Refusal
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread, is_called_off
from aotloop.fence.check_fence import fenced_setup, tree_confinement
from aotloop.fence.observation import Observation
from aotloop.fence.protected_watch import protected_at
from aotloop.git.commits import attempt_commit
from aotloop.git.commits.objects import ATOM, ATTEMPT, RUN
from aotloop.git.repository import Repository
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees import kept_work
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.setup import Setup, furnisher
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.sandbox import Policy, in_force


class Worktrees:
    isolation: Literal["worktree", "none"] = "worktree"

    def __init__(
        self,
        repository: Repository,
        *,
        folder: Path | None,
        setup: Setup,
        protection: Protection,
        fence: Policy | None = Policy(),  # noqa: B008 - it cannot change
    ) -> None:
        """`fence`: what keeps attempts out of the checkout, where it can; None: nothing."""
        self._branch = Branch(repository)
        self.branch: Branch | None = self._branch
        self._repository = repository
        setup = fenced_setup(setup, fence)
        self._pool = Pool(repository, folder, furnisher(setup))
        self._trees = CheckTrees(repository, setup)
        self._protection = protection
        self._fence = fence
        self._trespassing = CheckoutGuard(repository, self._branch, protection.files)

    def head(self) -> str | None:
        return self._repository.head().commit

    async def take(self, commit: str | None = None) -> Place:
        return self._place(await in_thread(partial(self._take, commit)))

    def _place(self, worktree: Worktree, kept: Kept | None = None) -> Place:
        confinement = confinement_at(worktree, self._fence)
        return Place(cwd=worktree.cwd, worktree=worktree, confinement=confinement, kept=kept)

    def _take(self, commit: str | None) -> Worktree:
        worktree = self._pool.take(commit if commit is not None else self._branch.head())
        if is_called_off():  # the caller is gone, so it could not give the worktree back
            self._pool.give_back(worktree)
        return worktree

    async def go_on(self, name: str, kept: Kept, commit: str | None = None) -> Place:
        worktree, is_there = await in_thread(partial(self._go_on, name, kept, commit))
        return self._place(worktree, kept if is_there else None)

    def _go_on(self, name: str, kept: Kept, start: str | None) -> tuple[Worktree, bool]:
        """The record counts only if it fits the kept commit, which no attempt can change."""
        worktree = self._pool.take(start or self._branch.head())
        try:
            commit = kept_work.kept_commit(self._repository, atom=name, attempt=kept.attempt)
            is_same = commit is not None and commit == kept.commit
            is_there = is_same and kept_work.put_on(worktree, commit or "", self._refused)
        except AotError:  # an interrupted copy may have left a part
            self._pool.give_back(worktree)
            worktree, is_there = self._pool.take(start or self._branch.head()), False
        if is_called_off():  # as above
            self._pool.give_back(worktree)
        return worktree, is_there

    def _refused(self, paths: Sequence[str]) -> tuple[str, ...]:
        top, orders = self._repository.top, set(self._repository.included)
        refused = self._protection.refused(paths, self._repository.prefix)
        return tuple(dict.fromkeys((*refused, *(path for path in paths if top / path in orders))))

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:
        """The kernel keeps a confined agent out; and a person has accepted the effects of a command."""
        is_kept_out = place.confinement is not None and in_force(place.confinement.policy).keeps_out
        return unwatched() if is_kept_out or assignment.command is not None else self._trespassing.watched(assignment)

    def edited(self, paths: Sequence[str]) -> None:
        self._trespassing.edited(paths)

    @asynccontextmanager
    async def to_check(self, commit: str | None) -> AsyncIterator[Place]:
        tree = await in_thread(partial(self._take_tree, commit))
        confinement = tree_confinement(self._repository, tree.path, self._fence)
        try:
            observation = await in_thread(partial(self._observed, commit))
            yield Place(cwd=tree.cwd, confinement=confinement, observation=observation)
        finally:
            await in_thread(partial(self._trees.give_back, tree))

    def _observed(self, commit: str | None) -> Observation:
        agreed, ours = self._protection.agreed, self._protection.files
        at = commit if commit is not None or not agreed else self._branch.head()
        return Observation(protected=protected_at(self._repository, at, agreed, ours))

    def _take_tree(self, commit: str | None) -> CheckTree:
        tree = self._trees.take(commit if commit is not None else self._branch.head())
        if is_called_off():  # as above
            self._trees.give_back(tree)
        return tree

    async def finish(self, place: Place, task: Task) -> Work | Refusal:
        return await in_thread(partial(self._finish, place, task))

    def _finish(self, place: Place, task: Task) -> Work | Refusal:
        trailers = {ATOM: task.name, ATTEMPT: str(task.number), RUN: task.run_id}
        try:
            if task.inspect is not None:
                problem = task.inspect(place.cwd, tuple(attempt_commit.changed_paths(_worktree(place))))
                if problem is not None:
                    return Refusal(problem)
            done = attempt_commit.commit(_worktree(place), task.title, trailers)
        except NotTakeable as why:
            return Refusal(f"what it left cannot be committed: {why}")
        refused = self._refused(done.paths)
        if done.sha is not None:
            attempt_commit.keep(self._repository, done.sha, atom=task.name, attempt=task.number)
        if refused:
            return Refusal(words_for(refused))
        settings = settings_in(done.paths)
        return Work(commit=done.sha, base=done.base, attempt=task.number, left_out=done.left_out, settings=settings)

    async def is_untouched(self, place: Place) -> bool:
        with suppress(NotTakeable):
            return not await in_thread(partial(attempt_commit.changed_paths, _worktree(place)))
        return False

    async def keep(self, place: Place, task: Task) -> Work | None:
        with suppress(NotTakeable):
            return await in_thread(partial(self._keep, place, task))
        return None

    def _keep(self, place: Place, task: Task) -> Work | None:
        done = attempt_commit.left(_worktree(place), atom=task.name, attempt=task.number)
        if done.sha is None:
            return None
        attempt_commit.keep(self._repository, done.sha, atom=task.name, attempt=task.number)
        return None if self._refused(done.paths) else Work(commit=done.sha, base=done.base, attempt=task.number)

    async def leave(self, place: Place) -> None:
        await in_thread(partial(self._pool.give_back, _worktree(place)))

    def close(self) -> None:
        try:
            self._trees.close()
        finally:
            self._pool.close()


def _worktree(place: Place) -> Worktree:
    if place.worktree is None:
        raise AssertionError("a place of this kind has a worktree")
    return place.worktree
