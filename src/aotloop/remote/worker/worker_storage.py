"""The disk of a worker: how full it is, and what is removed first.

Folders of old attempts go first, with their transcripts; then mirrors that were not used lately, and only while no
attempt uses them: when the worker starts. Undelivered results and the memory of orders are small, and stay.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.foreign_tree import walk_foreign

_MIB = 1 << 20


def make_room(home: Path, most: int) -> list[str]:
    """Removes what is least wanted until the home has at most so many MiB. Returns what was removed, in words."""
    removed = [f"the records of {count} attempts"] if (count := remove_records(home, most)) else []
    mirrors = _oldest_first(home / "mirrors")
    while mirrors and size_of(home) > most * _MIB:
        oldest = mirrors.pop(0)
        remove_tree(oldest)
        remove_tree(home / "worktrees")
        removed.append(f"the mirror of {oldest.name}")
    return removed


def remove_records(home: Path, most: int, running: Iterable[str] = ()) -> int:
    """Of attempts that are over, the oldest first. `running`: the names of folders that are in use."""
    in_use, count = set(running), 0
    left = size_of(home) - most * _MIB
    for folder in _oldest_first(home / "attempts") if left > 0 else ():
        if left <= 0:
            break
        if folder.name not in in_use:
            left -= size_of(folder)
            remove_tree(folder)
            count += 1
    return count


def free_space(home: Path) -> int:
    """MiB on its disk."""
    return shutil.disk_usage(home).free // _MIB


def size_of(folder: Path) -> int:
    total = 0
    for parent, _, names in walk_foreign(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - there may be very many
    return total


def _oldest_first(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime)
    except OSError:
        return []
