"""A worktree and its start. Only the files in it count; what an agent does with git there does not affect us.

Our part (index, lists, the registration) is in a folder of ours, see `work_tree`. The git folder in the worktree is the
agent's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aotloop.git.command import Done
from aotloop.git.commits.objects import Change, changes
from aotloop.git.repository import Repository
from aotloop.git.trees.work_tree import WorkTree

WORKTREES = "worktrees"
GUESTS = "guests"
"""Our folders for the worktrees that other programs made."""


class Worktree(msgspec.Struct, frozen=True):
    """A worktree and its start."""

    repository: Repository
    path: Path
    base: str
    lock: int | None = None
    """An open file: a process that inherits it also holds the worktree, so no other process takes it over meanwhile."""
    registration: str | None = None
    """The name under which git knows it, if another program made it; None: it is ours, and git does not know it."""

    @property
    def cwd(self) -> Path:
        """The folder in which the agent works: the project's folder, in this worktree."""
        return self.path / self.repository.prefix

    @property
    def is_there(self) -> bool:
        """Checks the folder itself: an agent may have removed it, or replaced it by a link to another place."""
        return self.path.is_dir() and not self.path.is_symlink()

    @property
    def own(self) -> Path:
        """Our folder for it, in git's, where no agent can write."""
        kind, name = (WORKTREES, self.path.name) if self.registration is None else (GUESTS, self.registration)
        return self.repository.own_folder / kind / name

    @property
    def tree(self) -> WorkTree:
        return WorkTree(self.repository, self.path, self.own, lock=self.lock)

    def git(self, *words: str, stdin: bytes = b"", accept: tuple[int, ...] = (0,)) -> Done:
        return self.tree.git(*words, stdin=stdin, accept=accept)

    def changes(self) -> list[Change]:
        """The changes of our index since the start."""
        words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", self.base)
        return list(changes(self.git(*words).fields))


_NOISE = "noise"
"""Files that git calls changed right after it wrote them."""


def note_noise(worktree: Worktree) -> None:
    """Call this right after git has written the files, before any other process uses them."""
    worktree.git("add", "--update")
    lines = [f"{change.blob} {change.path}\0" for change in worktree.changes()]
    (worktree.own / _NOISE).write_bytes(os.fsencode("".join(lines)))


def forget_noise(worktree: Worktree) -> None:
    (worktree.own / _NOISE).unlink(missing_ok=True)


def without_noise(worktree: Worktree, found: Iterable[Change]) -> list[Change]:
    """Resets the noise in our index to the content of the commit."""
    found = list(found)
    noise = _noted(worktree)
    same = [change for change in found if (change.path, change.blob) in noise]
    if same:
        lines = [f"{change.mode_before} {change.blob_before} 0\t{change.path}\0" for change in same]
        worktree.git("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))
    return [change for change in found if change not in same]


def _noted(worktree: Worktree) -> set[tuple[str, str]]:
    try:
        lines = os.fsdecode((worktree.own / _NOISE).read_bytes()).split("\0")[:-1]
    except FileNotFoundError:
        return set()
    return {(path, blob) for blob, _, path in (line.partition(" ") for line in lines)}
