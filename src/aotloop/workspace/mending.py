"""Files that a git, killed while it wrote them, left torn are written again; any other difference is the person's.

Git looks at all files before it touches the first. So, of the paths a commit changes, one that is missing, or that
begins as the commit has it and then breaks off, was left so by git.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec.structs import replace

from aotloop.workspace.git import Place, git
from aotloop.workspace.objects import Change, changes, nothing
from aotloop.workspace.repository import Repository

_LINK = "120000"
_FILES = frozenset({"100644", "100755", _LINK})
_INDEX = "aot-mending-index"


def note_files(place: Place, paths: Iterable[str]) -> bool:
    """Takes files into the index of the place as they are, those that are gone as gone; False: git refuses."""
    done = git(place, "update-index", "-z", "--add", "--remove", "--stdin", stdin=_listed(paths), accept=())
    return done.code == 0


def mend(repository: Repository, place: Place, head: str | None, commit: str) -> None:
    """The index of the place is a copy, at `head`, and is used up."""
    start = head or nothing(repository)
    raw = ("--raw", "-z", "--no-renames")
    wanted = {one.path: one for one in changes(repository.git("diff-tree", "-r", *raw, start, commit).fields)}
    if not note_files(place, wanted):
        return
    there = changes(git(place, "diff-index", "--cached", *raw, start).fields)
    differing = [wanted[one.path] for one in there if one.path in wanted and not _is_as_wanted(one, wanted[one.path])]
    torn = [change.path for change in differing if change.mode in _FILES and _is_torn(repository, commit, change)]
    if torn:
        index = repository.git_dir / _INDEX
        target = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", str(index))))
        try:
            git(target, "read-tree", commit)
            git(target, "checkout-index", "--force", "-z", "--stdin", stdin=_listed(torn))
        finally:
            index.unlink(missing_ok=True)


def _is_as_wanted(one: Change, wanted: Change) -> bool:
    return (one.mode, one.blob) == (wanted.mode, wanted.blob)


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
