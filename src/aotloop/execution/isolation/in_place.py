"""In place: attempts in the project's own folder. Their changes are there at once, and stay. Only commands share it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Literal

from aotloop.agents.contract import Assignment
from aotloop.errors import Unavailable
from aotloop.execution.integration.branch import Branch
from aotloop.execution.isolation.checkout_guard import Watch, unwatched
from aotloop.execution.isolation.place import Place, Refusal
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.fence.check_fence import checkout_confinement
from aotloop.foreign_tree import fingerprint, walk_foreign
from aotloop.git.command import head_of
from aotloop.process.sandbox import Confinement, Policy
from aotloop.text.patterns import matching


class InPlace:
    isolation: Literal["worktree", "none"] = "none"

    def __init__(
        self, root: Path, *, protect: Sequence[str], state_file: Path | None = None, fence: Policy | None = None
    ) -> None:
        """`state_file`: checks may not change it, nor git. `fence`: the person's decision; None: no fence."""
        self._state_file = state_file
        self._fence = fence
        self.branch: Branch | None = None
        self._root = root
        self._protect = tuple(protect)
        self._agreed: str | None = None

    def head(self) -> str | None:
        return head_of(self._root)

    async def take(self, commit: str | None = None) -> Place:  # noqa: ARG002 - there is one state of the files
        """What one attempt did to protected files is not put back, and may not help the next. Raises Unavailable."""
        now = await self._fingerprint()
        if self._agreed is None:
            self._agreed = now
        elif now != self._agreed:
            raise Unavailable(
                f"protected files differ from what they were when the run began: {', '.join(self._protect)}",
                hint="Without isolation aot cannot put them back. Restore them, then `aot run`.",
            )
        return Place(cwd=self._root, before=now, confinement=self._confinement())

    async def go_on(self, name: str, kept: Kept, commit: str | None = None) -> Place:  # noqa: ARG002 - as above
        return await self.take()

    def watched(self, place: Place, assignment: Assignment) -> AbstractAsyncContextManager[Watch]:  # noqa: ARG002
        return unwatched()  # it is meant to change it

    def edited(self, paths: Sequence[str]) -> None:
        pass

    @asynccontextmanager
    async def to_check(self, commit: str | None) -> AsyncIterator[Place]:  # noqa: ARG002 - as above
        """There is one folder for all, so that nothing keeps others from changing it meanwhile."""
        yield Place(cwd=self._root, confinement=self._confinement())

    def _confinement(self) -> Confinement | None:
        """Of attempts and of checks: the folder is open, git and what a person decided are closed."""
        if self._state_file is None:
            return None
        return checkout_confinement(self._root, str(self._state_file), self._fence)

    async def finish(self, place: Place, task: Task) -> Work | Refusal:
        if await self._fingerprint() != place.before:
            return Refusal("it changed what no attempt may change; without isolation that cannot be undone here")
        if task.inspect is not None and (problem := await in_thread(partial(task.inspect, place.cwd, ()))) is not None:
            return Refusal(problem)
        return Work(attempt=task.number)

    async def is_untouched(self, place: Place) -> bool:
        """Only changes of protected files can be found here."""
        return await self._fingerprint() == place.before

    async def keep(self, place: Place, task: Task) -> Work | None:
        """There is nothing to keep: the files stay where they are."""

    async def leave(self, place: Place) -> None:
        pass

    def close(self) -> None:
        pass

    async def _fingerprint(self) -> str:
        """The fingerprint of all protected files; empty if none is."""
        return await in_thread(self._digest) if self._protect else ""

    def _digest(self) -> str:
        digest = sha256()
        for path in sorted(_files(self._root, self._protect)):
            digest.update(f"{path}\0{fingerprint(self._root / path)}\0".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def _files(root: Path, patterns: Sequence[str]) -> set[str]:
    return set(matching(list(_paths(root)), patterns))


def _paths(root: Path) -> Iterator[str]:
    for folder, folders, names in walk_foreign(root):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.relpath(f"{folder}/{name}", root) for name in names)
