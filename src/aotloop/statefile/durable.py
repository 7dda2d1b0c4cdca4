"""The only code that writes a state file: under an exclusive lock, whole or not at all, and on disk when it returns."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from aotloop.errors import StateFileBusy, StateFileMissing, Unavailable

LOCK_PATIENCE = 30.0
"""Seconds. A lock is held for milliseconds; whoever keeps it this long is stopped or hangs."""

_LONGEST_PAUSE = 0.01
_NO_LOCK_ON_FOLDERS = (errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOTSUP, errno.EACCES)


@contextmanager
def locked(path: str, *, patience: float = LOCK_PATIENCE) -> Iterator[None]:
    """Exclusive among all processes that change files in this folder.

    The folder itself is locked, not a file: nothing is left behind, and the kernel frees it when its holder dies. File
    systems that cannot lock a folder (NFS) get a lock file beside the state file.
    """
    folder = os.path.dirname(path)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        raise StateFileMissing(f"there is no folder {folder}") from None
    try:
        try:
            _wait_for(descriptor, path, patience)
        except OSError as error:
            if error.errno not in _NO_LOCK_ON_FOLDERS:
                raise
            os.close(descriptor)
            descriptor = os.open(beside(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            _wait_for(descriptor, path, patience)
        yield
    finally:
        os.close(descriptor)


def beside(path: str, kind: Literal["lock", "tmp"]) -> str:
    """What a process that died may have left there. It is nobody's work."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{kind}")


def _wait_for(descriptor: int, path: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StateFileBusy(
                    f"{path} is locked by another process for more than {patience:g} s; nothing was changed",
                    hint="Look for a stopped or hanging `aot`; the lock goes with its process.",
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        else:
            return


def replace(path: str, data: bytes, is_wanted: Callable[[], bool] = lambda: True) -> os.stat_result | None:
    """Call it under the lock: the temporary file has a fixed name, so that a crash leaves at most one behind.

    `is_wanted` is asked at the last moment, when everything that takes time is done; None: nothing was changed. What is
    returned is of the file that was written, whoever replaced it since.
    """
    temporary = beside(path, "tmp")
    mode = _mode_of(path)
    became = "it is as it was"
    try:
        with _written(temporary, data, mode) as descriptor:
            if not is_wanted():
                _forget(temporary)
                return None
            os.rename(temporary, path)
            became = "it was changed, and that may not outlast a power failure"
            status = os.fstat(descriptor)
        _sync_folder(os.path.dirname(path))
    except OSError as error:
        _forget(temporary)
        raise Unavailable(
            f"{path} cannot be written: {os.strerror(error.errno or 0)}; {became}",
            hint="Check the disk's free space and the folder's permissions, then try again.",
        ) from error
    return status


@contextmanager
def _written(path: str, data: bytes, mode: int) -> Iterator[int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError:
        os.unlink(path)  # what a crash left behind, or a pipe that would block us
        descriptor = os.open(path, flags, mode)
    try:
        os.fchmod(descriptor, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def _mode_of(path: str) -> int:
    """Of the file that is replaced. A repository may hold a link to a device, or a pipe, where it should be; those are
    not ours to replace.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(mode):
        raise Unavailable(f"{path} is not a regular file, so it is not replaced")
    return mode & 0o777


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
