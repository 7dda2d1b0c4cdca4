"""Reads complete lines of a file that other processes append to, replace, cut or remove; it never fails or waits.

A journal is never a link: one in its place was put there, to have another file shown.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CHUNK = 1 << 20
MOST_AT_ONCE = 16 * CHUNK
LONGEST_LINE = 4 * CHUNK
"""Longer lines are not ours."""


class FollowedLines:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None
        self._offset = 0
        self._begun = b""
        """The beginning of a line whose end is not there yet."""

    def start_at(self, offset: int) -> None:
        """Starts at this offset of the present file."""
        with opened(self._path) as descriptor:
            if descriptor is not None:
                self._identity = _identity(os.fstat(descriptor))
                self._offset, self._begun = offset, b""

    def fresh(self) -> list[bytes]:
        """Lines added since the last call; all lines, if the file was replaced or is shorter."""
        with opened(self._path) as descriptor:
            if descriptor is None:
                self._forget(None)
                return []
            status = os.fstat(descriptor)
            if _identity(status) != self._identity or status.st_size < self._offset:
                self._forget(_identity(status))
            return self._read(descriptor)

    def _forget(self, identity: tuple[int, int] | None) -> None:
        self._identity, self._offset, self._begun = identity, 0, b""

    def _read(self, descriptor: int) -> list[bytes]:
        data = b""
        with suppress(OSError):
            while len(data) < MOST_AT_ONCE and (chunk := os.pread(descriptor, CHUNK, self._offset)):
                data += chunk
                self._offset += len(chunk)
        *lines, begun = (self._begun + data).split(b"\n")
        self._begun = begun if len(begun) <= LONGEST_LINE else b""
        return [line for line in lines if line]


@contextmanager
def opened(path: Path, *, follows_link: bool = False) -> Iterator[int | None]:
    """None if the file cannot be read without waiting."""
    try:
        link = 0 if follows_link else os.O_NOFOLLOW
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | link)
    except (OSError, ValueError):
        yield None
        return
    try:
        yield descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)


def last_bytes(path: Path, most: int, grain: int = 1, *, follows_link: bool = False) -> tuple[bytes, int]:
    """Complete lines at the end of a file, and their offset in the file.

    The beginning moves in steps of `grain` while the file grows: then there are up to so many bytes more.
    """
    with opened(path, follows_link=follows_link) as descriptor:
        if descriptor is None:
            return b"", 0
        size = os.fstat(descriptor).st_size
        begin = max(size - most, 0) // grain * grain
        most = max(most, size - begin)
        data = b""
        with suppress(OSError):
            while len(data) < most and (chunk := os.pread(descriptor, min(CHUNK, most - len(data)), begin + len(data))):
                data += chunk
    if begin:
        cut, found, data = data.partition(b"\n")
        begin += len(cut) + len(found)
    return data, begin


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
