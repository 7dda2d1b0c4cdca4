"""A git that failed while it wrote files, of a full disk, say: what it had written is taken back.

Git looks at all files before it touches the first; what stands in its way, it leaves alone. So, of the paths a commit
changes, one that was touched since git was started, and is as the commit has it or begins so and then breaks off, is
git's work, and one that is gone from a folder that was touched since then was removed by git. As with all of it, what
cannot be put back now is not lost: it is in `HEAD`.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from msgspec.structs import replace

from aotloop.errors import AotError
from aotloop.workspace.git import git
from aotloop.workspace.objects import Change, changes, nothing
from aotloop.workspace.repository import Repository

_LINK, _NONE = "120000", "000000"
_FILES = frozenset({"100644", "100755", _LINK})
_INDEX = "aot-mending-index"


def unwind(repository: Repository, head: str | None, commit: str, *, since: int) -> None:
    """`since`: in nanoseconds, by the clock of the file system; from before git was started."""
    with contextlib.suppress(AotError, OSError):
        if repository.head().commit != head:
            return
        start = head or nothing(repository)
        listed = repository.git("diff-tree", "-r", "--raw", "-z", "--no-renames", start, commit).fields
        done = [one for one in changes(listed) if _is_gits(repository, commit, one, since)]
        for one in done:
            if one.mode_before == _NONE:
                _remove(repository.top, one.path)
        _restore(repository, start, [one.path for one in done if one.mode_before in _FILES])


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
            stdin=b"".join(os.fsencode(one) + b"\0" for one in paths),
        )
    finally:
        index.unlink(missing_ok=True)
