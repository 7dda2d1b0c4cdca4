"""Clean trees for checks: the files of one commit, and what set-up adds, where no agent can write.

Without set-up, a tree is proven to be exactly the commit before each check. With set-up, it is a worktree of ours that
only set-up and checks have used. Files that set-up left are compared before each use: if a check changed one of them,
the tree is made anew; files that a check added are removed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.flock import lock_file, unlock_file
from aotloop.foreign_tree import walk_foreign
from aotloop.git.commits.objects import nothing
from aotloop.git.repository import Repository
from aotloop.git.trees.clean_tree import put_commit, remove_clean_tree
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.setup import Setup, furnisher
from aotloop.git.worktrees.worktree import Worktree
from aotloop.trust.folder import data_folder

_LOCK = ".lock"
_PREFIX = "tree-"

Stamp = tuple[int, int, int, int, int]


class CheckTree(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    cwd: Path
    """The project's folder in it."""
    worktree: Worktree | None = None


class CheckTrees:
    """Safe for any number of threads."""

    def __init__(self, repository: Repository, setup: Setup) -> None:
        digest = sha256(os.fsencode(repository.common_dir)).hexdigest()[:16]
        self._folder = data_folder("trees") / digest
        self._repository = repository
        furnish = furnisher(setup)
        self._pool = Pool(repository, self._folder / "set-up", furnish) if furnish is not None else None
        self._stamps: dict[Path, dict[str, Stamp]] = {}
        self._mutex = threading.Lock()
        self._idle: list[str] = []
        self._locks: dict[str, int] = {}

    def take(self, commit: str | None) -> CheckTree:
        """Raises Unavailable."""
        if self._pool is not None:
            return self._furnished(self._pool, commit)
        name = self._name()
        folder = self._folder / name
        try:
            cwd = put_commit(self._repository, folder, commit or nothing(self._repository))
        except OSError as error:
            raise Unavailable(f"no clean tree can be made in {folder}: {error.strerror}") from error
        return CheckTree(path=folder, cwd=cwd)

    def give_back(self, tree: CheckTree) -> None:
        if tree.worktree is not None and self._pool is not None:
            self._pool.give_back(tree.worktree)
        else:
            with self._mutex:
                self._idle.append(tree.path.name)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
        self._remove_left()
        for name, lock in self._locks.items():
            remove_clean_tree(self._repository, self._folder / name)
            unlock_file(self._folder / f"{name}{_LOCK}", lock, remove=True)
        self._locks.clear()
        with contextlib.suppress(OSError):  # others use it
            self._folder.rmdir()
            self._folder.parent.rmdir()

    # --- without set-up ------------------------------------------------------------------------------------------

    def _name(self) -> str:
        with self._mutex:
            if self._idle:
                return self._idle.pop()
            name = f"{_PREFIX}{secrets.token_hex(5)}"
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = lock_file(self._folder / f"{name}{_LOCK}")
            except OSError as error:
                raise Unavailable(f"no clean tree can be made in {self._folder}: {error.strerror}") from error
            if lock is not None:
                self._locks[name] = lock
            return name

    def _remove_left(self) -> None:
        """Trees of a process that was killed."""
        with contextlib.suppress(OSError):
            for file in self._folder.glob(f"{_PREFIX}*{_LOCK}"):
                name = file.name.removesuffix(_LOCK)
                if name not in self._locks and (lock := lock_file(file)) is not None:
                    remove_clean_tree(self._repository, self._folder / name)
                    unlock_file(file, lock, remove=True)

    # --- with set-up ---------------------------------------------------------------------------------------------

    def _furnished(self, pool: Pool, commit: str | None) -> CheckTree:
        while True:
            worktree = pool.take(commit)
            before = self._stamps.get(worktree.path)
            if before is None:
                break
            now = _stamps(worktree)
            if all(now.get(path) == stamp for path, stamp in before.items()):
                for path in now.keys() - before.keys():
                    remove_tree(worktree.path / path)
                break
            del self._stamps[worktree.path]
            pool.discard(worktree)
        self._stamps[worktree.path] = _stamps(worktree)
        return CheckTree(path=worktree.path, cwd=worktree.cwd, worktree=worktree)


def _stamps(worktree: Worktree) -> dict[str, Stamp]:
    """Of all files that are not the commit's. No program can set the time of a change of a file's facts (ctime)."""
    known = set(worktree.git("ls-files", "-z").fields)
    found: dict[str, Stamp] = {}
    for folder, names, files in walk_foreign(worktree.path):
        relative = os.path.relpath(folder, worktree.path)
        if relative == ".":
            names[:] = [name for name in names if name != ".git"]
        for name in files:
            path = name if relative == "." else f"{relative}/{name}"
            if path not in known and path != ".git":
                status = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - there may be very many
                facts = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                found[path] = facts
    return found
