"""The lease of a loop: held by the process that runs it, or by the person who changes its direction. One of each.

A lease is a flock on a small file beside the state file. It ends together with the process that holds it, in every
case. So no code has to guess whether a named process is still alive.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec

from aotloop.errors import StateFileBusy, Unavailable
from aotloop.flock import is_still, open_lock, try_lock

Role = Literal["run", "redirect"]

_LOOKS, _LOOK_SECONDS = 5, 0.01
"""A process that only asks for the holder holds the lease for a moment. A new holder writes its name a moment later."""

_WORDS: dict[Role, str] = {"run": "runs this loop", "redirect": "is changing the direction of this loop"}


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    pid: int | None = None
    """None: a process holds the lease, but its name cannot be read."""
    since: str = ""

    @property
    def name(self) -> str:
        return f"process {self.pid}" if self.pid is not None else "another process"


def holder_of(state_file: str, role: Role = "run") -> Holder | None:
    """The present holder; None if there is none."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would block
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
    """Raises StateFileBusy with the process that holds the lease."""
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
        """Takes the lease again if its file was removed (by `git clean`, say). Raises StateFileBusy if it is taken."""
        if not is_still(self._path, self._descriptor):
            before, self._descriptor = self._descriptor, self._take()
            os.close(before)

    def end(self) -> None:
        if is_still(self._path, self._descriptor):  # if the file was removed, a new file belongs to another holder
            with suppress(OSError):
                os.unlink(self._path)  # while we hold it: a process that opened it meanwhile notices that it is gone
        os.close(self._descriptor)

    def _take(self) -> int:
        descriptor = _taken(self._state_file, self._path, self._role)
        with suppress(OSError):  # on a full disk, the lock holds without a name: what frees space has to work there
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(self._holder), 0)
        return descriptor


def lease_file(state_file: str, role: Role) -> str:
    folder, name = os.path.split(os.path.realpath(state_file))
    return os.path.join(folder, f".{name}.{role}")


def _holder(descriptor: int) -> Holder | None:
    for _ in range(_LOOKS):
        try:
            if try_lock(descriptor, is_shared=True):
                return None
        except OSError:
            return None
        if (holder := _read(descriptor)) is not None:
            return holder
        time.sleep(_LOOK_SECONDS)
    return Holder()


def _taken(state_file: str, path: str, role: Role) -> int:
    holder = None
    for _ in range(_LOOKS + 1):
        descriptor = _opened(path)
        if not try_lock(descriptor):
            holder = _read(descriptor)
            os.close(descriptor)
            time.sleep(_LOOK_SECONDS)
            continue
        if is_still(path, descriptor):
            return descriptor
        os.close(descriptor)
    raise _busy(state_file, role, holder or Holder())


def _opened(path: str) -> int:
    try:
        return open_lock(path, 0o644)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be made: {error.strerror}", hint="The folder of the state file has to be writable."
        ) from error


def _busy(state_file: str, role: Role, holder: Holder) -> StateFileBusy:
    since = f" since {holder.since}" if holder.since else ""
    hint = "`aot watch` shows it, `aot stop` ends it." if role == "run" else "Finish that dialogue first, or end it."
    return StateFileBusy(f"{holder.name} {_WORDS[role]}{since}: {state_file}", hint=hint)


def _read(descriptor: int) -> Holder | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Holder)
    return None
