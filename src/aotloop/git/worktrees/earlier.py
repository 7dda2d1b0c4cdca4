"""Worktrees of versions before: git knew them, and their locks lay beside them. They are only removed.

Later versions keep their worktrees out of git's own list.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.flock import lock_file, unlock_file
from aotloop.foreign_files import read_plain
from aotloop.git.repository import Repository

_NAME, _LOCK, _REMOVED = "aot-", ".lock", "aot-removed-"
_LONGEST = 1 << 14


def remove_earlier(repository: Repository, folder: Path) -> None:
    """Those in this folder that no process uses, and what git knows of worktrees that are gone from there."""
    for lock in _locks(folder):
        with contextlib.suppress(OSError, Unavailable):
            descriptor = lock_file(lock)
            if descriptor is not None:
                remove_tree(folder / lock.name.removesuffix(_LOCK))
                unlock_file(lock, descriptor, remove=True)
    for private in _registrations(repository):
        path = Path(os.fsdecode(read_plain(private / "gitdir", _LONGEST)).rstrip("\n")).parent
        if path.parent == folder and not os.path.lexists(path):
            # In one step: any git that lists the worktrees meanwhile would fail on a part.
            removed = repository.common_dir / f"{_REMOVED}{private.name}"
            with contextlib.suppress(OSError):
                private.rename(removed)
    for removed in repository.common_dir.glob(f"{_REMOVED}*"):
        with contextlib.suppress(OSError):
            remove_tree(removed)
    with contextlib.suppress(OSError):
        (repository.common_dir / "worktrees").rmdir()  # as git does with the last one


def earlier_names(folder: Path) -> list[str]:
    return [lock.name.removesuffix(_LOCK) for lock in _locks(folder)]


def _locks(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.name.startswith(_NAME) and path.suffix == _LOCK)
    return []


def _registrations(repository: Repository) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for private in sorted((repository.common_dir / "worktrees").iterdir()):
            if private.name.startswith(_NAME) and not private.is_symlink():
                yield private
