"""Exchange of a file: read, change, write as a whole, without losing changes that were saved in between."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

from aotloop.errors import StateFileBusy, StateFileInvalid, Unavailable
from aotloop.statefile import durable

T = TypeVar("T")

MOST_RETRIES = 20
LARGEST = 128 << 20
"""Bytes of a state file. It takes minutes to find out that a larger one is no state file."""

TICK = 0.02
"""Seconds. Two changes of a file within this time may have the same timestamp."""

Signature = tuple[int, int, int, int]
"""The signature of a file at one time: inode, size, and the times of the last write and of the last change.

A different signature means that the file was changed. See `is_telling` for an equal one.
"""


class Exchanged(msgspec.Struct, Generic[T], frozen=True):
    """The new content of the file, its signature, and the result of the change."""

    data: bytes
    signature: Signature
    result: T


def exchange(
    path: str,
    read: Callable[[], tuple[bytes, Signature]],
    revise: Callable[[bytes], tuple[bytes, T]],
    is_behind: Callable[[], bool] = lambda: False,
) -> Exchanged[T]:
    """Replaces the content of the file by the result of `revise`. Call it under the lock (durable.locked).

    `revise` may run more than once: a person's editor does not take our lock, so if the file changes between our
    reading and our writing, it is read again. If `revise` raises, nothing is written. `is_behind`: whether `read` found
    more than the file has, so that it is written also without a change.
    """
    for _ in range(MOST_RETRIES):
        data, signature = read()
        revised, result = revise(data)
        if revised == data and not is_behind():
            return Exchanged(data, signature, result)
        written = durable.replace(path, revised, _is_as_it_was(path, read, data, signature))
        if written is not None:
            return Exchanged(revised, facts(written), result)
    raise StateFileBusy(f"{path} keeps changing while it is updated; nothing was written")


def _is_as_it_was(
    path: str, read: Callable[[], tuple[bytes, Signature]], data: bytes, signature: Signature
) -> Callable[[], bool]:
    return lambda: signature_of(path) == signature and (is_telling(signature) or read()[0] == data)


def is_telling(signature: Signature) -> bool:
    """Whether an equal signature later means that nothing was written. If not, only the content can say so.

    Timestamps are coarse: two writes within one tick leave the same. But a write sets both times to the present tick,
    so it cannot leave the earlier of two different ones. What `durable` writes has different ones.
    """
    _, _, written, changed = signature
    return written < changed


def contents(path: str, *, most: int | None = None) -> tuple[bytes, Signature]:
    """The whole content of a regular file; OSError if it cannot be read. `most`: read at most this many bytes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would block
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unavailable(
                f"{path} is not a regular file", hint="A state file is a regular file; --state-file names another one."
            )
        if most is None and status.st_size > LARGEST:
            raise Unavailable(
                f"{path} is too large: it has more than {LARGEST >> 20} MiB",
                hint="No loop needs as much. Bring an older version of the file back.",
            )
        bound = LARGEST if most is None else most
        data = os.read(descriptor, min(status.st_size, bound) + 1)
        while len(data) <= bound and (more := os.read(descriptor, 1 << 16)):
            data += more  # it grew during the read, or the file system reads in portions
        return data, facts(status)
    finally:
        os.close(descriptor)


def signature_of(path: str) -> Signature | None:
    """The present signature of the file; None if there is no file."""
    try:
        return facts(os.stat(path))
    except FileNotFoundError:
        return None


def facts(status: os.stat_result) -> Signature:
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Adds the name of the file to every error about its content."""
    try:
        yield
    except StateFileInvalid as error:
        raise StateFileInvalid(f"{path}: {error.message}", error.findings, hint=error.hint) from None
