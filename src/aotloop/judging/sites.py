"""Where a judge looks: in a throw-away copy of what is judged, or, without git, on the spot; a change there is seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from aotloop.agents.confinement import Confinement
from aotloop.judging.trees import Tree, tree_in
from aotloop.verify.cancellation import Cancellation
from aotloop.workspace import attempts
from aotloop.workspace.desks import Desk
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository
from aotloop.workspace.setup import Setup, furnisher
from aotloop.workspace.snapshots import take_snapshot


class Site(msgspec.Struct, frozen=True, kw_only=True):
    cwd: Path
    changes: Callable[[], tuple[str, ...]]
    """What is not as it was when the judge came."""
    is_the_original: bool = False
    """What the judge changes there, it has changed for good."""
    confinement: Confinement | None = None


class Sites(Protocol):
    """Called from several threads at once."""

    def survey(self, root: Path) -> Tree:
        """What lies there now, but for the loop's own files, in which others tell what they did."""
        ...

    def visit(self, root: Path, tree: Tree, cancellation: Cancellation) -> AbstractContextManager[Site]:
        """To look at exactly this."""
        ...

    def close(self) -> None: ...


class Copies:
    """Worktrees without history. They are kept for the next judge, and are gone at the end."""

    def __init__(
        self,
        repository: Repository,
        *,
        own: Iterable[str],
        folder: Path | None = None,
        setup: Setup = Setup(),  # noqa: B008 - it is frozen
        confine: Callable[[Desk], Confinement | None] = lambda _: None,
    ) -> None:
        """`own`: the loop's files, from the project's root."""
        self._repository = repository
        self._own = tuple(own)
        self._confine = confine
        self._taking = threading.local()
        self._pool = Pool(repository, folder, furnisher(setup, self._is_called_off))

    def survey(self, root: Path) -> Tree:
        taken = take_snapshot(self._repository, root, without=self._own)
        return Tree(files=taken.files, commit=taken.commit)

    @contextmanager
    def visit(self, root: Path, tree: Tree, cancellation: Cancellation) -> Iterator[Site]:  # noqa: ARG002
        self._taking.cancellation = cancellation
        desk = self._pool.take(tree.commit)
        try:
            yield Site(cwd=desk.cwd, changes=lambda: _changes(desk), confinement=self._confine(desk))
        finally:
            self._pool.give_back(desk)

    def close(self) -> None:
        self._pool.close()

    def _is_called_off(self) -> bool:
        """Asked by set-up, in the very thread that takes a worktree."""
        cancellation: Cancellation = self._taking.cancellation
        return cancellation.cancelled


def _changes(desk: Desk) -> tuple[str, ...]:
    try:
        return attempts.changed_paths(desk)
    except attempts.NotTakeable as why:
        return (str(why),)


class OnTheSpot:
    """In the folder itself. Whoever else changes it meanwhile makes the judgement void, too."""

    def __init__(self, *, own: Iterable[str]) -> None:
        self._own = tuple(own)

    def survey(self, root: Path) -> Tree:
        return tree_in(root, without=self._own)

    @contextmanager
    def visit(self, root: Path, tree: Tree, cancellation: Cancellation) -> Iterator[Site]:  # noqa: ARG002
        yield Site(cwd=root, changes=lambda: _differences(tree, self.survey(root)), is_the_original=True)

    def close(self) -> None:
        pass


def _differences(before: Tree, after: Tree) -> tuple[str, ...]:
    paths = sorted({*before.files, *after.files})
    return tuple(path for path in paths if before.files.get(path) != after.files.get(path))
