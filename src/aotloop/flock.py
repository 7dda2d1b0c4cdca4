"""Only this module calls flock. Such a lock ends with the process that holds it, however that process ends."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aotloop.errors import Unavailable

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.01
"""Seconds. Most locks are held for milliseconds."""

_NOT_A_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO)


def open_lock(path: str | os.PathLike[str], mode: int = 0o600) -> int:
    """The open file, made if there is none. A link, a pipe or a folder in its place is refused, not waited for."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise _in_the_way(path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _in_the_way(path)
    return descriptor


def try_lock(descriptor: int, *, is_shared: bool = False) -> bool:
    """False: another process holds it. A process that inherits the open file holds the lock as well."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(descriptor: int, patience: float) -> bool:
    """False: another process holds it for more than so many seconds."""
    deadline, pause = time.monotonic() + patience, _FIRST_PAUSE
    while not try_lock(descriptor):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    return True


def is_still(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Whether the path leads to the open file. A lock on a file that was removed keeps no other process out."""
    try:
        there, ours = os.lstat(path), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


# --- a file that is there only to be locked ----------------------------------------------------------------------


def lock_file(path: str | os.PathLike[str]) -> int | None:
    """The open file that holds the lock; None while another one does. Makes the file."""
    descriptor = open_lock(path)
    # Its holder may have removed the file between our opening and our locking it: then no other process asks for ours.
    if try_lock(descriptor) and is_still(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def unlock_file(path: str | os.PathLike[str], descriptor: int, *, remove: bool) -> None:
    if remove:
        with suppress(FileNotFoundError):
            os.unlink(path)  # while it is still ours; see above
    os.close(descriptor)


@contextmanager
def locked_file(path: str | os.PathLike[str], *, patience: float, what: str) -> Iterator[int]:
    """Waits for the lock, a bounded time."""
    deadline = time.monotonic() + patience
    while (descriptor := lock_file(path)) is None:
        if time.monotonic() > deadline:
            raise Unavailable(f"{what}: another process keeps {path}", hint="Wait for the other run, or stop it.")
        time.sleep(_LONGEST_PAUSE)
    try:
        yield descriptor
    finally:
        unlock_file(path, descriptor, remove=False)


def _in_the_way(path: str | os.PathLike[str]) -> Unavailable:
    hint = "No file of aotloop has this name; look at it and remove it."
    return Unavailable(f"{os.fspath(path)} is not a regular file", hint=hint)
