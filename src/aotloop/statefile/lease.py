"""Who holds a loop: the process that runs it, and the person who is changing its direction. One of each at a time.

A lease is a flock on a small file beside the state file. It ends with the process that holds it, however that ends, so
nobody has to guess whether a process that is named somewhere still lives.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec

from aotloop.errors import StateFileBusy, Unavailable

Role = Literal["run", "redirect"]

_LOOKS, _LOOK_SECONDS = 5, 0.01
"""Whoever only asks who holds it, holds it for a moment."""

_WORDS: dict[Role, str] = {"run": "runs this loop", "redirect": "is changing the direction of this loop"}


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    since: str = ""


def holder_of(state_file: str, role: Role = "run") -> Holder | None:
    """Whoever holds it now; None if nobody does."""
    try:
        descriptor = os.open(lease_file(state_file, role), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None


@contextmanager
def lease(state_file: str, role: Role = "run", *, since: str = "") -> Iterator[None]:
    """Raises StateFileBusy, with the process that holds it."""
    path = lease_file(state_file, role)
    descriptor = _taken(state_file, path, role)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(Holder(pid=os.getpid(), since=since)), 0)
        yield
    finally:
        with suppress(OSError):
            os.unlink(path)  # while it is ours: whoever opened it meanwhile finds out that it is gone
        os.close(descriptor)


def lease_file(state_file: str, role: Role) -> str:
    folder, name = os.path.split(os.path.realpath(state_file))
    return os.path.join(folder, f".{name}.{role}")


def _taken(state_file: str, path: str, role: Role) -> int:
    for patience in range(_LOOKS, -1, -1):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise Unavailable(
                f"{path} cannot be made: {error.strerror}", hint="The folder of the state file has to be writable."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(descriptor)
            os.close(descriptor)
            if not patience:
                raise _busy(state_file, role, holder) from None
            time.sleep(_LOOK_SECONDS)
            continue
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)
    raise _busy(state_file, role, None)


def _busy(state_file: str, role: Role, holder: Holder | None) -> StateFileBusy:
    who = f"process {holder.pid}" if holder is not None else "another process"
    since = f" since {holder.since}" if holder is not None and holder.since else ""
    hint = "`aot watch` shows it, `aot stop` ends it." if role == "run" else "Finish that dialogue first, or end it."
    return StateFileBusy(f"{who} {_WORDS[role]}{since}: {state_file}", hint=hint)


def _read(descriptor: int) -> Holder | None:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Holder)
    return None


def _is_still(path: str, descriptor: int) -> bool:
    try:
        there, ours = os.stat(path), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
