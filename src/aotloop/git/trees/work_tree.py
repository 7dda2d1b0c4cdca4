"""A folder with the files of a commit, as our git sees it: only the files there count, and no git folder in it.

Our git folder for it, with index, settings and lists, is in git's folder of the person, where agents cannot write. The
objects are the person's. So nothing that an agent wrote can tell our git what to read, what to run, or where to write.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import msgspec

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.foreign_files import read_plain
from aotloop.git.command import Done, Place, git
from aotloop.git.pinned_settings import for_our_folder
from aotloop.git.repository import Repository

INDEX = "index"
EXCLUDES = "excludes"
"""The person's own list, and the files that set-up put there: these are not the agent's work."""

MODULES = ".gitmodules"

_ATTRIBUTES = "attributes"
_PLAIN = "without-submodules"
_GIT = "git"
_LARGEST = 1 << 20
_HEAD = b"0" * 40 + b"\n"

SETTINGS = (
    "core.sparseCheckout=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "index.sparse=false",
    "protocol.allow=never",
)
"""No change may stay hidden, and nothing is fetched from a place that an agent named."""


class WorkTree(msgspec.Struct, frozen=True):
    repository: Repository
    path: Path
    own: Path
    """Our folder for it."""
    clone: Path | None = None
    """The person's clone of a submodule; None: it is a tree of the repository itself."""
    lock: int | None = None
    """An open file: a git that outlives us holds it as long as it runs."""

    @property
    def source(self) -> Path:
        """The person's git folder that has the objects."""
        return self.clone or self.repository.common_dir

    @property
    def place(self) -> Place:
        shallow = self.source / "shallow"
        return Place(
            self.path,
            (
                *SETTINGS[: -1 if self._may_fetch else None],
                f"core.excludesFile={self.own / EXCLUDES}",
                f"core.attributesFile={self.own / _ATTRIBUTES}",
            ),
            (
                *self.repository.identity,
                ("GIT_DIR", str(self.own / _GIT)),
                ("GIT_OBJECT_DIRECTORY", str(self.source / "objects")),
                ("GIT_WORK_TREE", str(self.path)),
                ("GIT_INDEX_FILE", str(self.own / INDEX)),
                *([("GIT_SHALLOW_FILE", str(shallow))] if shallow.exists() else []),
            ),
            is_ours=True,
        )

    @property
    def _may_fetch(self) -> bool:
        """A clone of the person that lacks objects fetches them from where it came."""
        return any(setting.key == "extensions.partialclone" for setting in self.repository.settings)

    def git(self, *words: str, stdin: bytes = b"", accept: tuple[int, ...] = (0,)) -> Done:
        return git(self.place, *words, stdin=stdin, accept=accept, holding=() if self.lock is None else (self.lock,))

    def prepare(self) -> None:
        """Makes our git folder, or brings it up to date; the list of what set-up put there stays."""
        folder, common = self.own / _GIT, self.repository.common_dir
        for name in ("objects", "refs", "info"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._write(folder / "HEAD", _HEAD)
        self._write(folder / "config", os.fsencode(for_our_folder(self.repository.settings, common)))
        for name in ("exclude", "attributes"):
            self._write(folder / "info" / name, read_plain(common / "info" / name, _LARGEST))
        self._write(self.own / _ATTRIBUTES, self.repository.attributes)
        if not (self.own / EXCLUDES).exists():
            self._write(self.own / EXCLUDES, self.repository.ignored)

    def _write(self, file: Path, content: bytes) -> None:
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)

    def fill(self, commit: str) -> None:
        """Writes the files of the commit; other files that git does not know stay. Without its submodules."""
        (self.own / f"{INDEX}.lock").unlink(missing_ok=True)  # of a git that was killed; no other uses this index
        self.git("read-tree", "--reset", "-u", commit)
        if os.path.lexists(self.path / MODULES):
            (self.own / _PLAIN).unlink(missing_ok=True)
        else:
            self._write(self.own / _PLAIN, commit.encode())

    def is_plain(self, commit: str) -> bool:
        """Whether it is known, without asking git, that this commit has no submodules."""
        return read_plain(self.own / _PLAIN, _LARGEST) == commit.encode()


def require_real_folder(top: Path, relative: str) -> Path:
    """The folder in the tree, to which no link leads. Raises Unavailable."""
    path = top
    for name in Path(relative).parts:
        path = path / name
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(path.lstat().st_mode):
                continue
        raise Unavailable(f"{relative} is not a folder in {top}")
    return path


def forget(tree: WorkTree) -> None:
    """Removes our folder for it."""
    remove_tree(tree.own)
