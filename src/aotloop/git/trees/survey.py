"""A survey of a folder that others wrote, before our git looks at it: what is there, how much, and what is no file.

Git would wait for a pipe that is called `.gitignore`, read a file of any size, and enter a repository in the folder.
The survey follows no link and opens no file. Its length is bounded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.process.cancellation import governing_cancellation

GIT = ".git"
ATTRIBUTES = ".gitattributes"
LONGEST_PATH = 3_500
"""Bytes. The system refuses paths of 4,096 bytes, and git adds to them."""
MOST_ENTRIES = 3_000_000
_SHOWN = 60


class TooDeepError(Unavailable):
    """Folders are nested so deep that no program can name what is in them."""


class Survey(msgspec.Struct, frozen=True):
    specials: tuple[str, ...] = ()
    """Pipes, sockets and devices, from the top of the folder."""
    repositories: tuple[str, ...] = ()
    """Every `.git` below the top, a folder before what is in it."""
    large: tuple[str, ...] = ()
    """Files that are larger than the caller accepts."""
    size: int = 0
    """Bytes of all files, holes included."""
    has_attributes: bool = False


def survey(top: Path, largest: int) -> Survey:
    """Without the `.git` of the folder itself, and without what is in other repositories' `.git`."""
    specials, repositories, large = [], [], []
    size, has_attributes = 0, False
    for entry, path in _entries(os.fspath(top)):
        if entry.name == GIT:
            repositories.append(path)
        elif entry.is_file(follow_symlinks=False):
            has_attributes = has_attributes or entry.name == ATTRIBUTES
            length = entry.stat(follow_symlinks=False).st_size
            size += length
            if length > largest:
                large.append(path)
        elif not entry.is_dir(follow_symlinks=False) and not entry.is_symlink():
            specials.append(path)
    return Survey(tuple(specials), tuple(repositories), tuple(large), size, has_attributes)


def _entries(top: str) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Every entry with its path from the top. What vanishes meanwhile is left out."""
    cancellation, count, start = governing_cancellation(), 0, len(top) + 1
    pending = [top]
    while pending:
        folder = pending.pop()
        if cancellation is not None and cancellation.cancelled:
            raise Unavailable(f"the look at {top} was stopped")
        for entry in _listed(folder):
            count += 1
            if count > MOST_ENTRIES:
                raise TooDeepError(f"more than {MOST_ENTRIES} files are in {top}")
            if folder == top and entry.name == GIT:
                continue
            yield entry, entry.path[start:]
            if entry.name != GIT and entry.is_dir(follow_symlinks=False):
                if len(entry.path) > LONGEST_PATH:
                    raise TooDeepError(f"folders are nested too deep: {entry.path[start : start + _SHOWN]}…")
                pending.append(entry.path)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def remove_oddities(top: Path) -> None:
    """Removes what no commit can contain: pipes, sockets, devices, and repositories below the top.

    Raises TooDeepError: then the whole folder has to go.
    """
    found = survey(top, MOST_ENTRIES)
    for path in (*found.specials, *found.repositories):
        remove_tree(top / path)


class NotTakeable(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """In words that follow `what it left cannot be committed:`."""
