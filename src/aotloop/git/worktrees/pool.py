"""The pool of worktrees: they are used again, each is locked by the process that uses it, all are removed at the end.

A pool's folder holds the worktrees. What we know of them, with a lock for each, is in git's folder, where no agent can
write. If no process holds the lock, the worktree was left by a crash: the pool takes it over, or removes it. Worktrees
that git knows are never touched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from aotloop.errors import Unavailable
from aotloop.flock import lock_file, unlock_file
from aotloop.git.commits.objects import nothing
from aotloop.git.repository import Repository, is_at_or_in, pin_lists, unpin_lists
from aotloop.git.worktrees import lifecycle as worktrees
from aotloop.git.worktrees.earlier import earlier_names, remove_earlier
from aotloop.git.worktrees.worktree import WORKTREES, Worktree

_NAME = "aot-"
_BYTES = 5
_LOCK = ".lock"

Furnish = Callable[[Worktree], None]


class Pool:
    """Safe for any number of threads. `furnish` adds the files that a fresh checkout lacks, see `setup`."""

    def __init__(self, repository: Repository, folder: Path | None = None, furnish: Furnish | None = None) -> None:
        self._repository = repository
        self.folder = (folder or default_folder(repository)).resolve()
        if is_at_or_in(str(self.folder), str(repository.top)):
            raise Unavailable(
                f"worktrees cannot be in the checkout itself: {self.folder}", hint="Choose a folder outside of it."
            )
        self._furnish = furnish
        self._mutex = threading.Lock()
        self._locks: dict[str, int] = {}
        self._idle: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, commit: str | None) -> Worktree:
        """A worktree at this commit, for the caller alone; None: in a repository without commits."""
        base = commit or nothing(self._repository)
        while (name := self._idle_one()) is not None:
            worktree = self._worktree(name, base)
            if self._is_ready(worktree):
                return self._furnished(worktree)
            self.discard(worktree)
        worktree = self._worktree(self._new_name(), base)
        try:
            worktrees.make(worktree)
        except BaseException:
            self.discard(worktree)
            raise
        return self._furnished(worktree)

    def give_back(self, worktree: Worktree) -> None:
        with self._mutex:
            self._idle.append(worktree.path.name)

    def discard(self, worktree: Worktree) -> None:
        """Removes a worktree that cannot be used again."""
        name = worktree.path.name
        with contextlib.suppress(OSError):
            worktrees.remove(worktree)
        if not os.path.lexists(worktree.path) and not os.path.lexists(worktree.own):
            with self._mutex:
                descriptor = self._locks.pop(name, None)
            if descriptor is not None:
                unlock_file(self._lock_file(name), descriptor, remove=True)

    def close(self) -> None:
        """Removes every worktree of this pool, in use or not, and those that crashed pools have left."""
        with self._mutex:
            names = [*self._locks]
            self._idle.clear()
        for name in names:
            self.discard(self._worktree(name, ""))
        while (orphan := self._orphan()) is not None:
            self.discard(self._worktree(orphan, ""))
        remove_earlier(self._repository, self.folder)
        self._remove_folders()
        if self._locks:
            left = ", ".join(str(self.folder / name) for name in self._locks)
            raise Unavailable(f"worktrees that cannot be removed: {left}", hint="Remove them by hand.")

    def worktrees(self) -> list[Path]:
        """The worktrees of all processes."""
        return [self.folder / name for name in (*self._names(), *earlier_names(self.folder))]

    @property
    def _registrations(self) -> Path:
        return self._repository.own_folder / WORKTREES

    def _worktree(self, name: str, base: str) -> Worktree:
        return Worktree(self._repository, self.folder / name, base, self._locks.get(name))

    def _lock_file(self, name: str) -> Path:
        return self._registrations / f"{name}{_LOCK}"

    def _idle_one(self) -> str | None:
        with self._mutex:
            if self._idle:
                return self._idle.pop()  # the last one: its files are still in memory
        return self._orphan()

    def _orphan(self) -> str | None:
        """A worktree that no process holds; from now on it is ours."""
        for name in self._names():
            with self._mutex, contextlib.suppress(FileNotFoundError):
                if name not in self._locks and (descriptor := lock_file(self._lock_file(name))) is not None:
                    self._locks[name] = descriptor
                    return name
        return None

    def _names(self) -> Iterator[str]:
        """Those of this folder, and what a process has left that died before it registered anything."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for path in sorted(self._registrations.iterdir()):
                if path.name.startswith(_NAME) and path.name.endswith(_LOCK):
                    name = path.name.removesuffix(_LOCK)
                    worktree = self._worktree(name, "")
                    if worktrees.is_registered(worktree) or worktrees.is_unregistered(worktree):
                        yield name

    def _new_name(self) -> str:
        for _ in range(100):
            name = f"{_NAME}{secrets.token_hex(_BYTES)}"
            with contextlib.suppress(FileNotFoundError):  # another pool, at its end, removed the empty folder
                self._make_folder()
                with self._mutex:  # between its making and its locking, it looks like one that was left behind
                    descriptor = lock_file(self._lock_file(name))
                    if descriptor is not None:
                        self._locks[name] = descriptor
                        return name
        raise Unavailable(f"no worktree can be made in {self.folder}")

    def _make_folder(self) -> None:
        try:
            self._registrations.mkdir(parents=True, exist_ok=True)
            pin_lists(self._repository)
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Unavailable(
                f"no worktree can be made in {self.folder}: {error.strerror}",
                hint="Set `worktrees` in aot.toml, or XDG_CACHE_HOME, to a folder that you may write to.",
            ) from error

    def _is_ready(self, worktree: Worktree) -> bool:
        """An error in a worktree means the same as an unclean worktree."""
        with contextlib.suppress(OSError, Unavailable):
            return worktrees.is_registered(worktree) and worktree.is_there and worktrees.reset(worktree)
        return False

    def _furnished(self, worktree: Worktree) -> Worktree:
        try:
            if self._furnish is not None:
                self._furnish(worktree)
        except BaseException:
            self.discard(worktree)
            raise
        return worktree

    def _remove_folders(self) -> None:
        ours = [self.folder]
        if self.folder == default_folder(self._repository).resolve():
            ours += [self.folder.parent, self.folder.parent.parent]
        with contextlib.suppress(OSError):  # another pool, or a clean tree, is in use
            self._registrations.rmdir()
            unpin_lists(self._repository)
            self._repository.own_folder.rmdir()
        with contextlib.suppress(OSError):  # not empty, or gone
            for folder in ours:
                folder.rmdir()


def default_folder(repository: Repository) -> Path:
    return cache_folder() / "worktrees" / sha256(os.fsencode(repository.common_dir)).hexdigest()[:16]


def cache_folder() -> Path:
    """A folder in the user's cache; only absolute paths count, a relative one could be in the checkout."""
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")  # noqa: PTH111 - never raises
    for folder in (Path(cache), Path(home, ".cache")):
        if folder.is_absolute():
            return folder / "aot"
    raise Unavailable("you have no home folder", hint="Set HOME, or XDG_CACHE_HOME, to an absolute path.")
