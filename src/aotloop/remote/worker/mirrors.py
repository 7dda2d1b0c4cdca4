"""The mirrors of a worker: one for each repository that its configuration names, with worktrees for attempts."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from aotloop.errors import AotError, Unavailable
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.git.commits.attempt_commit import ref_of
from aotloop.git.commits.transfer import mirror, receive_commit
from aotloop.git.repository import Repository
from aotloop.git.worktrees.setup import INPUTS, Setup
from aotloop.process.sandbox import Policy
from aotloop.remote.wire import AttemptOrder, CommitCheckOrder


class Mirrors:
    """Safe for any number of threads."""

    def __init__(self, home: Path, repositories: dict[str, str], fence: Policy | None, mark: str) -> None:
        """`mark`: in the environment of set-up commands."""
        self._home = home
        self._repositories = repositories
        self._fence = fence
        self._mark = mark
        self._mutex = threading.Lock()
        self._fetching: dict[str, threading.Lock] = {}
        self._worktrees: dict[str, Worktrees] = {}
        self._known: dict[str, Repository] = {}
        self._fetched: set[tuple[str, str]] = set()

    def url_of(self, order: AttemptOrder | CommitCheckOrder) -> str:
        return self._repositories[order.repository]

    def fetch(self, order: AttemptOrder | CommitCheckOrder) -> Repository:
        """The mirror with the commits of this order. Blocks. Raises Unavailable."""
        folder = self._home / "mirrors" / order.repository
        with self._mutex:
            if order.repository not in self._known or not (folder / ".git").is_dir():
                self._known[order.repository] = mirror(folder)
                self._fetched.clear()
            found = self._known[order.repository]
            fetching = self._fetching.setdefault(order.repository, threading.Lock())
        with fetching:  # one at a time, as git does it; the others then find the commit
            if (order.repository, order.base) not in self._fetched:
                receive_commit(found, self.url_of(order), order.base)
                self._fetched.add((order.repository, order.base))
        if order.start is not None and order.start.commit is not None:
            with suppress(AotError):  # then the attempt starts clean
                ref = ref_of(order.atom, order.start.attempt)
                receive_commit(found, self.url_of(order), order.start.commit, ref)
        os.utime(folder)
        return _at(found, order.prefix)

    def worktrees(self, repository: Repository, order: AttemptOrder | CommitCheckOrder) -> Worktrees:
        """Orders with the same rules share a pool. Blocks."""
        rules = msgspec.json.encode((order.repository, order.prefix, order.setup, order.protection))
        key = sha256(rules).hexdigest()[:12]
        with self._mutex:
            if key not in self._worktrees:
                setup = Setup(
                    command=order.setup.command,
                    inputs=order.setup.inputs or INPUTS,
                    timeout=order.setup.timeout,
                    variables={"AOT_RUN_ID": self._mark},
                )
                folder = self._home / "worktrees" / f"{order.repository}-{key}"
                self._worktrees[key] = Worktrees(
                    repository, folder=folder, setup=setup, protection=order.protection, fence=self._fence
                )
            return self._worktrees[key]

    def close(self) -> None:
        for worktree in self._worktrees.values():
            with suppress(AotError, OSError):
                worktree.close()


def _at(repository: Repository, prefix: str) -> Repository:
    parts = PurePosixPath(prefix).parts
    if PurePosixPath(prefix).is_absolute() or ".." in parts:
        raise Unavailable("the order names a folder outside of its repository")
    return replace(repository, root=repository.top / prefix, prefix=prefix)
