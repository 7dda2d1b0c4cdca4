"""The case of a judge: the files of one moment, in a copy, or in the folder itself without git."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import msgspec

from aotloop.core.model import Check, Objective
from aotloop.errors import Unavailable
from aotloop.foreign_tree import walk_foreign
from aotloop.git.commits import attempt_commit
from aotloop.git.repository import Repository
from aotloop.git.trees.snapshots import take_snapshot
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.setup import Setup, furnisher
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.cancellation import Cancellation
from aotloop.process.sandbox import Confinement
from aotloop.text.patterns import matching


class Site(msgspec.Struct, frozen=True, kw_only=True):
    cwd: Path
    changes: Callable[[], tuple[str, ...]]
    """The files that differ from the judge's start."""
    is_the_original: bool = False
    """The judge's changes there cannot be undone."""
    confinement: Confinement | None = None


class Sites(Protocol):
    """Sites are used from several threads at once."""

    def survey(self, root: Path) -> Tree:
        """The files that are there now, without the loop's own files: these contain claims about the work."""
        ...

    def visit(self, root: Path, tree: Tree, cancellation: Cancellation) -> AbstractContextManager[Site]:
        """A folder with exactly these files."""
        ...

    def close(self) -> None: ...


class Copies:
    """Worktrees without history. They stay for the next judge, and are removed at the end."""

    def __init__(
        self,
        repository: Repository,
        *,
        own: Iterable[str],
        folder: Path | None = None,
        setup: Setup = Setup(),  # noqa: B008 - it is frozen
        confine: Callable[[Worktree], Confinement | None] = lambda _: None,
    ) -> None:
        """`own`: the loop's files, from the project's root."""
        self._repository = repository
        self._own = tuple(own)
        self._confine = confine
        self._pool = Pool(repository, folder, furnisher(setup))

    def survey(self, root: Path) -> Tree:
        taken = take_snapshot(self._repository, root, without=self._own)
        return Tree(files=taken.files, commit=taken.commit)

    @contextmanager
    def visit(self, root: Path, tree: Tree, cancellation: Cancellation) -> Iterator[Site]:  # noqa: ARG002
        with cancellation.governing():
            worktree = self._pool.take(tree.commit)
        try:
            yield Site(cwd=worktree.cwd, changes=lambda: _changes(worktree), confinement=self._confine(worktree))
        finally:
            self._pool.give_back(worktree)

    def close(self) -> None:
        self._pool.close()


def _changes(worktree: Worktree) -> tuple[str, ...]:
    try:
        return attempt_commit.changed_paths(worktree)
    except NotTakeable as why:
        return (str(why),)


class OnTheSpot:
    """The folder itself. Any change meanwhile, by any process, makes the judgement invalid."""

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


class Case:
    """The files of the moment of the first question."""

    def __init__(self, objective: Objective, root: Path, sites: Callable[[], Sites]) -> None:
        """`sites` is called only when there is something to judge: it may be expensive."""
        self.objective = objective
        self.root = root
        self.sites = sites
        self._lock = threading.Lock()
        self._tree: Tree | None = None

    @property
    def tree(self) -> Tree:
        with self._lock:
            if self._tree is None:
                self._tree = self.sites().survey(self.root)
            return self._tree


_FOLDERS_OF_TOOLS = frozenset(
    {".git", ".aot", "node_modules", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
"""Folders to ignore where there is no git: files of tools, and installed packages."""


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    files: dict[str, str]
    """Path from the project's root → an identity of content and mode."""
    commit: str | None = None
    """The commit for a worktree."""

    def in_scope(self, scope: str | tuple[str, ...] | None) -> list[str]:
        return sorted(self.files if scope is None else matching(self.files, patterns_of(scope)))

    def digest(self, scope: str | tuple[str, ...] | None) -> str:
        lines = (f"{self.files[path]}\t{path}\0" for path in self.in_scope(scope))
        return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def patterns_of(scope: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if scope is None:
        return ()
    return (scope,) if isinstance(scope, str) else scope


def scope_of(check: Check) -> str:
    return ", ".join(patterns_of(check.scope))


def tree_in(root: Path, *, without: Iterable[str] = ()) -> Tree:
    """The files of a folder that is in no repository."""
    left_out = frozenset(without)
    try:
        return Tree(files={path: facts for path, facts in _files(root) if path not in left_out})
    except OSError as error:
        raise Unavailable(f"{error.filename or root} cannot be read: {error.strerror}") from error


def _files(root: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, names in walk_foreign(root):
        folders[:] = [name for name in folders if name not in _FOLDERS_OF_TOOLS]
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                content = os.fsencode(path.readlink())
            elif stat.S_ISREG(mode):
                content = path.read_bytes()
            else:
                continue
            yield path.relative_to(root).as_posix(), f"{mode:o} {sha256(content).hexdigest()}"
