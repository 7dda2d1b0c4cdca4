"""Retention: the evidence of ended attempts is bounded. The oldest goes first; what a run or a person needs stays.

Above the bytes, an ended attempt loses all files but its record. Above the number, it loses its folder, unless it was
the last one on its atom: a warm start begins with that record. History and reports are made of the events, not of this.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from aotloop.deletion import remove_tree

MOST_FOLDERS = 20_000
_LONGEST_NUMBER = 9
_LATEST = 20
"""So many of the newest ended attempts keep all their files, whatever the size."""


class Retention:
    def __init__(
        self,
        attempts: Path,
        record: str,
        most_bytes: int,
        most_folders: int = MOST_FOLDERS,
        writing: Callable[[Path], AbstractContextManager[object]] = contextlib.nullcontext,
    ) -> None:
        """`attempts`: the folder of their folders. `record`: the file that an ended attempt, and no other, has.

        `writing`: is entered with a folder while files in it are removed.
        """
        self._writing = writing
        self._attempts = attempts
        self._record = record
        self._most_bytes = most_bytes
        self._most_folders = most_folders
        self._whole: dict[str, int] | None = None
        """Bytes of ended attempts with all their files, the oldest first."""
        self._bytes = 0
        self._ended: dict[str, None] = {}
        """All ended attempts, the oldest first."""
        self._last: dict[str, str] = {}
        """The last ended attempt on each atom."""

    def add(self, name: str) -> None:
        """This attempt has ended, and its result was used. Never raises OSError."""
        if self._whole is None:
            self._whole = {}
            for found in self._found():
                self._take(found, self._whole)
        self._take(name, self._whole)
        while self._bytes > self._most_bytes and len(self._whole) > _LATEST:
            oldest = next(iter(self._whole))
            self._bytes -= self._whole.pop(oldest)
            self._strip(oldest)
        if len(self._ended) > self._most_folders:
            self._remove_oldest()

    def _found(self) -> list[str]:
        """Of runs before: numbers of attempts increase."""
        with contextlib.suppress(OSError):
            names = os.listdir(self._attempts)  # noqa: PTH208 - names are enough
            ended = [name for name in names if os.path.lexists(self._attempts / name / self._record)]
            return sorted(ended, key=lambda name: number_in(name.rpartition("-")[2]))
        return []

    def _take(self, name: str, whole: dict[str, int]) -> None:
        size = _bytes_in(self._attempts / name)
        self._bytes += size - whole.pop(name, 0)
        whole[name] = size
        self._ended.pop(name, None)
        self._ended[name] = None
        self._last[name.rpartition("-")[0]] = name

    def _strip(self, name: str) -> None:
        folder = self._attempts / name
        with self._writing(folder), contextlib.suppress(OSError):
            for inner in [] if folder.is_symlink() else os.listdir(folder):  # noqa: PTH208 - as above
                if inner != self._record:
                    remove_tree(folder / inner)

    def _remove_oldest(self) -> None:
        """A tenth at once, so that not every attempt has to look for it."""
        surplus = len(self._ended) - self._most_folders * 9 // 10
        older = [name for name in self._ended if self._last[name.rpartition("-")[0]] != name]
        for name in older[:surplus]:
            del self._ended[name]
            if self._whole is not None:
                self._bytes -= self._whole.pop(name, 0)
            with self._writing(self._attempts / name), contextlib.suppress(OSError):
                remove_tree(self._attempts / name)


def number_in(digits: str) -> int:
    """The number of an attempt; 0: this is none."""
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _LONGEST_NUMBER else 0


def _bytes_in(folder: Path) -> int:
    """Of the files directly in it: nothing else of an attempt is ours. Links are not followed."""
    with contextlib.suppress(OSError):
        if not folder.is_symlink():
            with os.scandir(folder) as entries:
                return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    return 0
