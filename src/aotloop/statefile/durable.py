"""The only code that writes a state file: under an exclusive lock, all or nothing, and on disk when it returns."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from aotloop.errors import StateFileBusy, StateFileMissing, Unavailable
from aotloop.flock import open_lock, wait_for_lock
from aotloop.statefile.lease import lease_file
from aotloop.statefile.locate import PHASE_FILE

LOCK_PATIENCE = 30.0
"""Seconds. A lock is held for milliseconds; a process that keeps it this long is stopped or hangs."""

_NO_LOCK_ON_FOLDERS = (errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOTSUP, errno.EACCES)


@contextmanager
def locked(path: str, *, patience: float = LOCK_PATIENCE) -> Iterator[None]:
    """An exclusive lock against all processes that change files in this folder.

    The folder itself is locked, not a file: nothing is left behind, and the kernel frees the lock when its holder dies.
    File systems that cannot lock a folder (NFS) get a lock file beside the state file.
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
            descriptor = open_lock(beside(path, "lock"), 0o666)
            _wait_for(descriptor, path, patience)
        yield
    finally:
        os.close(descriptor)


def beside(path: str, kind: Literal["lock", "log", "old", "tmp"]) -> str:
    """A file that a dead process may have left there. Only the log contains work."""
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{kind}")


def discard_log(path: str) -> None:
    """Call it under the lock, when the file has everything."""
    with suppress(OSError):
        os.unlink(beside(path, "log"))


def _wait_for(descriptor: int, path: str, patience: float) -> None:
    if not wait_for_lock(descriptor, patience):
        raise StateFileBusy(
            f"{path} is locked by another process for more than {patience:g} s; nothing was changed",
            hint="Look for a stopped or hanging `aot`; the lock goes with its process.",
        )


def replace(path: str, data: bytes, is_wanted: Callable[[], bool] | None = None) -> os.stat_result | None:
    """Call it under the lock: the temporary file has a fixed name, so that a crash leaves at most one behind.

    `is_wanted` is called at the last moment, when all slow steps are done. None: nothing was changed, because it was
    not wanted, or because an editor saved the file at that very moment. The result describes the written file, even if
    another process has replaced it since.
    """
    temporary = beside(path, "tmp")
    mode = mode_of(path)
    became = "it is as it was"
    try:
        with _written(temporary, data, mode) as descriptor:
            if is_wanted is None:
                os.rename(temporary, path)
            elif not _is_exchanged(temporary, path, is_wanted):
                _forget(temporary)
                return None
            became = "it was changed, but a power failure may undo that"
            status = os.fstat(descriptor)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        _forget(temporary)
        raise Unavailable(
            f"{path} cannot be written: {os.strerror(error.errno or 0)}; {became}",
            hint="Check the disk's free space and the folder's permissions, then try again.",
        ) from error
    return status


def _is_exchanged(temporary: str, path: str, is_wanted: Callable[[], bool]) -> bool:
    """Editors take no lock. The old file keeps a second name until it is known that it was not saved at this moment."""
    before = _last_change(path)
    if not is_wanted():
        return False
    old = beside(path, "old")
    _forget(old)
    try:
        os.link(path, old, follow_symlinks=False)
    except OSError:  # there is no file yet, or the file system has no second names
        os.rename(temporary, path)
        return True
    os.rename(temporary, path)
    is_same = _last_change(old) == before
    if is_same:
        _forget(old)
    else:
        os.rename(old, path)
    return is_same


def _last_change(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


@contextmanager
def _written(path: str, data: bytes, mode: int) -> Iterator[int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError:
        os.unlink(path)  # left by a crash, or a pipe that would block us
        descriptor = os.open(path, flags, mode)
    try:
        os.fchmod(descriptor, mode)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        _date_back(descriptor)
        os.fsync(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def _date_back(descriptor: int) -> None:
    """By a nanosecond, so that any later write leaves another time: see exchange.is_telling."""
    status = os.fstat(descriptor)
    with suppress(OSError):  # then the content is compared
        os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns - 1))


def mode_of(path: str) -> int:
    """The mode of the replaced file. A link to a device, or a pipe, may be in its place; those are not replaced."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(mode):
        raise Unavailable(f"{path} is not a regular file, so it is not replaced")
    return mode & 0o777


def sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


JOURNALS = ".aot"
"""The folder in the project for records that aotloop writes about a loop."""


def our_files(state_file: str, root: str) -> list[str]:
    """Paths relative to the project's root."""
    files = (*_of(state_file), *_of(os.path.join(root, PHASE_FILE)))
    inside = dict.fromkeys(os.path.relpath(path, root) for path in files)
    return [JOURNALS, *(path for path in inside if not path.startswith(".."))]


def _of(state_file: str) -> list[str]:
    leases = [lease_file(state_file, "run"), lease_file(state_file, "redirect")]
    return [state_file, *leases, *(beside(state_file, kind) for kind in ("lock", "log", "old", "tmp"))]
