"""Repairs files that a killed or failed git left half-written in the checkout. Other differences stay as they are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from aotloop.errors import AotError
from aotloop.git.command import Place, git
from aotloop.git.commits.objects import Change, changes, nothing
from aotloop.git.repository import Repository

_LINK = "120000"
_FILES = frozenset({"100644", "100755", _LINK})
_INDEX = "aot-mending-index"


def note_files(place: Place, paths: Iterable[str]) -> bool:
    """Takes files into the index of the place as they are, and removed files as removed; False: git refuses."""
    done = git(place, "update-index", "-z", "--add", "--remove", "--stdin", stdin=_listed(paths), accept=())
    return done.code == 0


def mend(repository: Repository, place: Place, head: str | None, commit: str) -> None:
    """The index of the place is a copy at `head`; this function changes it."""
    start = head or nothing(repository)
    raw = ("--raw", "-z", "--no-renames")
    wanted = {change.path: change for change in changes(repository.git("diff-tree", "-r", *raw, start, commit).fields)}
    if not note_files(place, wanted):
        return
    there = changes(git(place, "diff-index", "--cached", *raw, start).fields)
    differing = [
        wanted[change.path]
        for change in there
        if change.path in wanted and not _is_as_wanted(change, wanted[change.path])
    ]
    torn = [change.path for change in differing if change.mode in _FILES and _is_torn(repository, commit, change)]
    if torn:
        index = repository.git_dir / _INDEX
        target = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", str(index))))
        try:
            git(target, "read-tree", commit)
            git(target, "checkout-index", "--force", "-z", "--stdin", stdin=_listed(torn))
        finally:
            index.unlink(missing_ok=True)


def _is_as_wanted(change: Change, wanted: Change) -> bool:
    return (change.mode, change.blob) == (wanted.mode, wanted.blob)


def _is_torn(repository: Repository, commit: str, change: Change) -> bool:
    path = repository.top / change.path
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not path.is_file() or change.mode == _LINK:
        return False
    whole = repository.git("cat-file", "--filters", f"{commit}:{change.path}").out
    return len(whole) > path.stat().st_size and whole.startswith(path.read_bytes())


def _listed(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in sorted(paths))


_LINK, _NONE = "120000", "000000"
_FILES = frozenset({"100644", "100755", _LINK})
_INDEX = "aot-mending-index"


def unwind(repository: Repository, head: str | None, commit: str, *, since: int) -> None:
    """`since`: nanoseconds by the clock of the file system, from before the start of git."""
    with contextlib.suppress(AotError, OSError):
        if repository.head().commit != head:
            return
        start = head or nothing(repository)
        listed = repository.git("diff-tree", "-r", "--raw", "-z", "--no-renames", start, commit).fields
        done = [change for change in changes(listed) if _is_gits(repository, commit, change, since)]
        for change in done:
            if change.mode_before == _NONE:
                _remove(repository.top, change.path)
        _restore(repository, start, [change.path for change in done if change.mode_before in _FILES])


def _is_gits(repository: Repository, commit: str, change: Change, since: int) -> bool:
    path = repository.top / change.path
    if not os.path.lexists(path):
        return change.mode_before != _NONE and path.parent.is_dir() and path.parent.stat().st_ctime_ns >= since
    status = path.lstat()
    if change.mode not in _FILES or status.st_ctime_ns < since:
        return False
    if change.mode == _LINK or path.is_symlink():
        whole = repository.git("cat-file", "blob", f"{commit}:{change.path}").out
        return change.mode == _LINK and path.is_symlink() and os.fsencode(path.readlink()) == whole
    whole = repository.git("cat-file", "--filters", f"{commit}:{change.path}").out
    return path.is_file() and status.st_size <= len(whole) and whole.startswith(path.read_bytes())


def _remove(top: Path, name: str) -> None:
    path = top / name
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # up to the first that is not empty
        for folder in path.parents:
            if folder == top:
                break
            folder.rmdir()


def _restore(repository: Repository, start: str, paths: list[str]) -> None:
    if not paths:
        return
    index = repository.git_dir / _INDEX
    place = repository.place
    target = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", str(index))))
    try:
        git(target, "read-tree", start)
        git(
            target,
            "checkout-index",
            "--force",
            "-z",
            "--stdin",
            stdin=b"".join(os.fsencode(path) + b"\0" for path in paths),
        )
    finally:
        index.unlink(missing_ok=True)
