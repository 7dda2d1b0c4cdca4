"""A worktree as we show it to git: the agent's changes to `.git`, HEAD or the index do not affect us.

We tell git every path, and use our own index beside the agent's: only the files count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aotloop.git.command import Done, Place, git
from aotloop.git.objects import Change, changes
from aotloop.git.repository import Repository

INDEX = "aot-index"
EXCLUDES = "aot-excludes"
"""Files that set-up put there: not the agent's work, even if the project does not ignore them."""

SETTINGS = (
    "core.sparseCheckout=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
)
"""The agent shares these settings and may have changed them: no change in a worktree may stay hidden."""


class Desk(msgspec.Struct, frozen=True):
    """A worktree and its start."""

    repository: Repository
    path: Path
    base: str
    lock: int | None = None
    """An open file: a process that inherits it also holds the worktree, so no other process takes it over meanwhile."""
    private: str | None = None
    """The name of git's folder for it, if that differs from its own."""

    @property
    def cwd(self) -> Path:
        """The folder in which the agent works: the project's folder, in this worktree."""
        return self.path / self.repository.prefix

    @property
    def is_there(self) -> bool:
        """Checks the folder itself: an agent may have removed it, or replaced it by a link to another place."""
        return self.path.is_dir() and not self.path.is_symlink()

    @property
    def git_dir(self) -> Path:
        return self.repository.common_dir / "worktrees" / (self.private or self.path.name)

    @property
    def place(self) -> Place:
        excludes = self.git_dir / EXCLUDES
        return Place(
            self.path,
            (*SETTINGS, *([f"core.excludesFile={excludes}"] if excludes.exists() else [])),
            (
                *self.repository.identity,
                ("GIT_DIR", str(self.git_dir)),
                ("GIT_WORK_TREE", str(self.path)),
                ("GIT_INDEX_FILE", str(self.git_dir / INDEX)),
            ),
        )

    def git(self, *words: str, stdin: bytes = b"", accept: tuple[int, ...] = (0,)) -> Done:
        return git(self.place, *words, stdin=stdin, accept=accept, holding=self.locks)

    @property
    def locks(self) -> tuple[int, ...]:
        """A git may outlive us and write files: it holds the worktree as long as it runs."""
        return () if self.lock is None else (self.lock,)

    def changes(self) -> list[Change]:
        """The changes of our index since the start."""
        words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", self.base)
        return list(changes(self.git(*words).fields))


NOISE = "aot-noise"


def note(desk: Desk) -> None:
    """Call this right after git has written the files, before any other process uses them."""
    desk.git("add", "--update")
    lines = [f"{change.blob} {change.path}\0" for change in desk.changes()]
    (desk.git_dir / NOISE).write_bytes(os.fsencode("".join(lines)))


def forget(desk: Desk) -> None:
    (desk.git_dir / NOISE).unlink(missing_ok=True)


def without(desk: Desk, found: Iterable[Change]) -> list[Change]:
    """Resets the noise in our index to the content of the commit."""
    found = list(found)
    noise = _noted(desk)
    same = [change for change in found if (change.path, change.blob) in noise]
    if same:
        lines = [f"{change.mode_before} {change.blob_before} 0\t{change.path}\0" for change in same]
        desk.git("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))
    return [change for change in found if change not in same]


def _noted(desk: Desk) -> set[tuple[str, str]]:
    try:
        lines = os.fsdecode((desk.git_dir / NOISE).read_bytes()).split("\0")[:-1]
    except FileNotFoundError:
        return set()
    return {(path, blob) for blob, _, path in (line.partition(" ") for line in lines)}
