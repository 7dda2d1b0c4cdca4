"""Who holds a loop: the process that runs it, and the person who is changing its direction. One of each at a time.

A lease is a flock on a small file beside the state file. It ends with the process that holds it, however that ends, so
nobody has to guess whether a process that is named somewhere still lives.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec

from aotloop.errors import StateFileBusy, Unavailable

Role = Literal["run", "redirect"]

_LOOKS, _LOOK_SECONDS = 5, 0.01
"""Whoever only asks who holds it, holds it for a moment; whoever has just taken it writes its name a moment later."""

_WORDS: dict[Role, str] = {"run": "runs this loop", "redirect": "is changing the direction of this loop"}


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    pid: int | None = None
    """None: somebody holds it, but what was written about who cannot be read."""
    since: str = ""

    @property
    def name(self) -> str:
        return f"process {self.pid}" if self.pid is not None else "another process"


def holder_of(state_file: str, role: Role = "run") -> Holder | None:
    """Whoever holds it now; None if nobody does."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe in its place would keep us waiting
    try:
        descriptor = os.open(lease_file(state_file, role), flags)
    except OSError:
        return None
    try:
        return _holder(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lease(state_file: str, role: Role = "run", *, since: str = "") -> Iterator[Lease]:
    """Raises StateFileBusy, with the process that holds it."""
    held = Lease(state_file, role, since)
    try:
        yield held
    finally:
        held.end()


class Lease:
    def __init__(self, state_file: str, role: Role, since: str) -> None:
        self._state_file = state_file
        self._role = role
        self._path = lease_file(state_file, role)
        self._holder = Holder(pid=os.getpid(), since=since)
        self._descriptor = self._take()

    def renew(self) -> None:
        """Takes it again if its file was removed (by `git clean`, say). Raises StateFileBusy if somebody was faster."""
        if not _is_still(self._path, self._descriptor):
            before, self._descriptor = self._descriptor, self._take()
            os.close(before)

    def end(self) -> None:
        if _is_still(self._path, self._descriptor):  # if somebody removed it, what is there now is another holder's
            with suppress(OSError):
                os.unlink(self._path)  # while it is ours: whoever opened it meanwhile finds out that it is gone
        os.close(self._descriptor)

    def _take(self) -> int:
        descriptor = _taken(self._state_file, self._path, self._role)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(self._holder), 0)
        return descriptor


def lease_file(state_file: str, role: Role) -> str:
    folder, name = os.path.split(os.path.realpath(state_file))
    return os.path.join(folder, f".{name}.{role}")


def _holder(descriptor: int) -> Holder | None:
    for _ in range(_LOOKS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if (holder := _read(descriptor)) is not None:
                return holder
            time.sleep(_LOOK_SECONDS)
        except OSError:
            return None
        else:
            return None
    return Holder()


def _taken(state_file: str, path: str, role: Role) -> int:
    holder = None
    for _ in range(_LOOKS + 1):
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(descriptor)
            os.close(descriptor)
            time.sleep(_LOOK_SECONDS)
            continue
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)
    raise _busy(state_file, role, holder or Holder())


def _opened(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _in_the_way(path) from None
        raise Unavailable(
            f"{path} cannot be made: {error.strerror}", hint="The folder of the state file has to be writable."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _in_the_way(path)
    return descriptor


def _in_the_way(path: str) -> Unavailable:
    return Unavailable(f"{path} is not a regular file", hint="Nothing of ours is called so; look at it and remove it.")


def _busy(state_file: str, role: Role, holder: Holder) -> StateFileBusy:
    since = f" since {holder.since}" if holder.since else ""
    hint = "`aot watch` shows it, `aot stop` ends it." if role == "run" else "Finish that dialogue first, or end it."
    return StateFileBusy(f"{holder.name} {_WORDS[role]}{since}: {state_file}", hint=hint)


def _read(descriptor: int) -> Holder | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Holder)
    return None


def _is_still(path: str, descriptor: int) -> bool:
    try:
        there, ours = os.lstat(path), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
