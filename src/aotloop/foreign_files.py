"""Files that an agent may have written: only this module opens them, and nothing in their place can stop or mislead us.

A link is not followed, a pipe is not waited for, a device is not read, an endless file has an end. A file of another
user is refused.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from aotloop.errors import writing

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_AT_ONCE = 1 << 20


def read_foreign(path: str | Path, most: int) -> bytes:
    """The whole content. Raises OSError, also if it is no regular file, of another user, or longer than `most`."""
    folder, name = os.path.split(os.fspath(path))
    within = os.open(folder or ".", _FOLDER)
    try:
        return read_in(within, name, most)
    finally:
        os.close(within)


def read_in(within: int, name: str, most: int) -> bytes:
    """As `read_foreign`. `within`: the folder, open."""
    descriptor = os.open(name, _FLAGS, dir_fd=within)
    try:
        return _content(descriptor, name, most)
    finally:
        os.close(descriptor)


def write_in(within: int, name: str, content: bytes) -> None:
    """The new content of a file, made if there is none; anything else in its place is refused, not waited for."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=within)
    try:
        _require_plain(descriptor, name)
        with writing(name):
            os.ftruncate(descriptor, 0)
            while content:
                content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def begin_in(within: int, name: str, most: int) -> bytes:
    """At most the first `most` bytes. Raises OSError, also if it is no regular file. `within`: the folder, open."""
    descriptor = os.open(name, _FLAGS, dir_fd=within)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        return _taken(descriptor, most)
    finally:
        os.close(descriptor)


def begin_of_foreign(path: str | Path, most: int) -> bytes:
    """At most the first `most` bytes; empty if `read_foreign` would not read it."""
    with suppress(OSError, ValueError):
        descriptor = os.open(path, _FLAGS)
        try:
            _require_plain(descriptor, path)
            return _taken(descriptor, most)
        finally:
            os.close(descriptor)
    return b""


def open_to_append(path: str | Path, mode: int = 0o644, *, emptied: bool = False) -> int:
    """A file of ours, made if there is none; anything else in its place is refused, not waited for. Raises OSError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode)
    try:
        _require_plain(descriptor, path)
        if emptied:
            os.ftruncate(descriptor, 0)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_new(path: str | Path, content: bytes, mode: int = 0o600) -> None:
    """A new file: a link, a pipe or another file in its place is removed first. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, mode)
    except FileExistsError:
        os.unlink(path)
        descriptor = os.open(path, flags, mode)
    try:
        with writing(path):
            while content:
                content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _content(descriptor: int, path: str | Path, most: int) -> bytes:
    size = _require_plain(descriptor, path)
    content = _taken(descriptor, most + 1) if size <= most else b""
    if max(size, len(content)) > most:  # it may have grown meanwhile
        raise OSError(errno.EFBIG, "it is too long", os.fspath(path))
    return content


def _taken(descriptor: int, most: int) -> bytes:
    chunks = []
    while most > 0 and (chunk := os.read(descriptor, min(most, _AT_ONCE))):
        chunks.append(chunk)
        most -= len(chunk)
    return b"".join(chunks)


def _require_plain(descriptor: int, path: str | Path) -> int:
    """Its size."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    if found.st_uid != os.geteuid() and os.geteuid() != 0:
        raise OSError(errno.EPERM, "it belongs to another user", os.fspath(path))
    return found.st_size


def read_plain(path: Path, most: int, *, follows: bool = False) -> bytes:
    """Its content; empty if there is none, it is no regular file, or it has more than `most` bytes. Never waits."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return b""
        chunks = []
        while chunk := os.read(descriptor, most + 1):
            chunks.append(chunk)
            if sum(map(len, chunks)) > most:
                return b""
        return b"".join(chunks)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
