"""A worktree as git is told about it: nothing an agent does to `.git`, HEAD or the index makes a difference to us.

Git is told where everything is, and has an index of ours beside the agent's: what counts is the files.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.workspace.git import Done, Place, git
from aotloop.workspace.objects import Change, changes
from aotloop.workspace.repository import Repository

INDEX = "aot-index"
EXCLUDES = "aot-excludes"
"""What set-up put there: not the agent's work, even where the project does not ignore it."""

SETTINGS = (
    "core.sparseCheckout=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
)
"""Settings are shared with the agent, who may have changed these: nothing in a worktree may go unnoticed."""


class Desk(msgspec.Struct, frozen=True):
    """A worktree and where it started."""

    repository: Repository
    path: Path
    base: str
    lock: int | None = None
    """An open file: whoever inherits it holds the worktree, too, and it is not taken over while that one lives."""
    private: str | None = None
    """The name of git's folder for it, if that is another than its own."""

    @property
    def cwd(self) -> Path:
        """Where the agent works: the same folder as the project in the person's checkout."""
        return self.path / self.repository.prefix

    @property
    def is_there(self) -> bool:
        """The folder itself: an agent may have removed it, or put a link in its place, which leads elsewhere."""
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
        """A git may outlive us, and goes on to write files: it holds the worktree for as long as it runs."""
        return () if self.lock is None else (self.lock,)

    def changes(self) -> list[Change]:
        """Of our index, from the start."""
        words = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", self.base)
        return list(changes(self.git(*words).fields))
