"""Deletes whole folders, however deep and however sealed, and follows no link.

Folders are moved up before they are emptied. So no path gets long, and two open descriptors suffice for any depth.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


_TRIES, _PAUSE = 100, 0.05
_MEANWHILE = (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST)
"""Another process has removed or added something. A process that ends often does, for a moment."""


def remove_tree(path: Path) -> None:
    """A link is removed, and not what it leads to. Nothing there is fine. Raises OSError."""
    for tries_left in reversed(range(_TRIES)):
        try:
            _remove(path)
        except OSError as error:
            if error.errno not in _MEANWHILE or not tries_left:
                raise
            time.sleep(_PAUSE)
        if not os.path.lexists(path):
            return


def _remove(path: Path) -> None:
    if not os.path.lexists(path):
        return
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _remove_folder(path.name, parent)
    finally:
        os.close(parent)


def discard_tree(path: Path) -> None:
    """Removes it as far as possible, and never raises."""
    with contextlib.suppress(OSError):
        remove_tree(path)


def _remove_folder(name: str, parent: int) -> None:
    top = _opened(name, parent)
    try:
        mark, count = f".aot-{secrets.token_hex(4)}-", 0
        pending, _ = _emptied(top, top, mark, count)
        while pending:
            inner = pending.pop()
            folder = _opened(inner, top)
            try:
                more, count = _emptied(folder, top, mark, count)
            finally:
                os.close(folder)
            pending += more
            os.rmdir(inner, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _emptied(folder: int, top: int, mark: str, count: int) -> tuple[list[str], int]:
    """Removes the files in it. Folders in it are moved to the top; returns their names there."""
    moved = []
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif folder == top:
            moved.append(name)
        elif not _is_removed(name, folder):
            os.close(_opened(name, folder))  # only what may be written to can be moved
            count += 1
            os.rename(name, f"{mark}{count}", src_dir_fd=folder, dst_dir_fd=top)
            moved.append(f"{mark}{count}")
    return moved, count


def _is_removed(name: str, folder: int) -> bool:
    """Most folders at the ends are empty."""
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=folder)
        return True
    return False


def _opened(name: str, parent: int) -> int:
    """The folder, which we may now list and change; a link in its place is an error."""
    with contextlib.suppress(PermissionError):
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
        if os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.fchmod(descriptor, stat.S_IRWXU)
        return descriptor
    _unseal(name, parent)
    return os.open(name, _FOLDER, dir_fd=parent)


def _unseal(name: str, parent: int) -> None:
    """A folder that we may not even open."""
    path_only = getattr(os, "O_PATH", None)
    if path_only is None:  # elsewhere than on Linux
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
        return
    descriptor = os.open(name, path_only | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IRWXU)
    finally:
        os.close(descriptor)
