"""The folder that is open to one agent, for one attempt: its answer and its temporary files. It ends with the attempt.

It lies in the user's cache, under a name that no other agent knows. Folders that a killed process left are removed
before the next one is made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.flock import lock_file, unlock_file
from aotloop.git.worktrees.pool import cache_folder

_PREFIX = "for-"
_LOCK = ".lock"
_MOST_TRIES = 100
_held: set[str] = set()
"""Names of the locks of this process. To try them would take longer than all the rest."""


@contextlib.contextmanager
def agent_folder() -> Iterator[Path]:
    """Raises Unavailable."""
    parent = cache_folder() / "scratch"
    try:
        folder, lock = _made(parent)
    except OSError as error:
        raise Unavailable(
            f"no folder can be made for an agent in {parent}: {error.strerror}",
            hint="Set XDG_CACHE_HOME to a folder that you may write to.",
        ) from error
    try:
        yield folder
    finally:
        _remove(folder)
        unlock_file(f"{folder}{_LOCK}", lock, remove=True)
        _held.discard(f"{folder.name}{_LOCK}")
        with contextlib.suppress(OSError):  # others use it
            parent.rmdir()
            parent.parent.rmdir()


def remove_left_folders() -> None:
    """Folders of processes that were killed."""
    with contextlib.suppress(OSError, Unavailable):
        parent = cache_folder() / "scratch"
        _remove_left(parent)
        parent.rmdir()
        parent.parent.rmdir()


def _remove(folder: Path) -> None:
    """Most attempts leave nothing in it."""
    try:
        folder.rmdir()
    except OSError:
        with contextlib.suppress(OSError):
            remove_tree(folder)


def _made(parent: Path) -> tuple[Path, int]:
    for _ in range(_MOST_TRIES):
        with contextlib.suppress(FileNotFoundError):  # another process, at its end, removed the empty folder
            parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_left(parent)
            folder = parent / f"{_PREFIX}{secrets.token_hex(8)}"
            name = f"{folder.name}{_LOCK}"
            if (lock := lock_file(parent / name)) is None:  # another process took it for one that was left
                continue
            _held.add(name)
            folder.mkdir(mode=0o700)
            return folder, lock
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(parent))


def _remove_left(parent: Path) -> None:
    """The lock of a folder ends with the process that made it."""
    for name in os.listdir(parent):  # noqa: PTH208 - names are enough
        if name.startswith(_PREFIX) and name.endswith(_LOCK) and name not in _held:
            with contextlib.suppress(OSError):
                if (lock := lock_file(parent / name)) is not None:
                    remove_tree(parent / name.removesuffix(_LOCK))
                    unlock_file(parent / name, lock, remove=True)
