"""A lock is a flock on a file of its own: it ends with the process that holds it, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from aotloop.errors import Unavailable

_PAUSE = 0.02


def try_lock(path: Path) -> int | None:
    """The open file that holds the lock; None while another one does. Makes the file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if _is_still(path, descriptor):
        return descriptor
    # Whoever held it removed the file between our opening and our locking it: what we hold, nobody else will ask for.
    os.close(descriptor)
    return None


def unlock(path: Path, descriptor: int, *, remove: bool) -> None:
    if remove:
        path.unlink(missing_ok=True)  # while it is still ours; see above
    os.close(descriptor)


@contextlib.contextmanager
def held(path: Path, *, patience: float, what: str) -> Iterator[int]:
    """Waits for the lock, a bounded time. A process that inherits the open file holds the lock as well."""
    deadline = time.monotonic() + patience
    while (descriptor := try_lock(path)) is None:
        if time.monotonic() > deadline:
            raise Unavailable(f"{what}: another process keeps {path}", hint="Wait for the other run, or stop it.")
        time.sleep(_PAUSE)
    try:
        yield descriptor
    finally:
        unlock(path, descriptor, remove=False)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        there, ours = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
