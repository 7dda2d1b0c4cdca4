"""Snapshots of a work tree as git would commit it; they change no index, no branch and no file.

The commit has no parent, so that a worktree of it shows files and no history.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aotloop.git.command import Place, git
from aotloop.git.objects import without_history
from aotloop.git.repository import Repository, is_at_or_in
from aotloop.git.worktrees.worktree import EXCLUDES, SETTINGS


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    files: dict[str, str]
    """The files of the project: path from there → git's identity of content and mode."""


def take_snapshot(repository: Repository, root: Path, *, without: Iterable[str] = ()) -> Snapshot:
    """`root`: the project, in the person's checkout or in a worktree of ours; `without`: paths from there."""
    top = _top_above(root.resolve(), repository.prefix)
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    with tempfile.TemporaryDirectory(prefix="aot-snapshot-") as folder:
        place = _place(repository, top, Path(folder, "index"))
        if repository.head().commit is not None:  # else tracked files that are also ignored would be missing
            git(place, "read-tree", "HEAD")
        git(place, "add", "--all")
        left_out = [f":(top,literal){prefix}{path}" for path in without]
        if left_out:
            git(place, "rm", "-r", "-f", "--quiet", "--cached", "--ignore-unmatch", "--", *left_out)
        tree = git(place, "write-tree").text
    commit = without_history(repository, tree, "what is judged\n")
    listed = repository.git("ls-tree", "-r", "-z", "--full-tree", commit).fields
    entries = (line.partition("\t") for line in listed)
    inside = {path: facts for facts, _, path in entries if is_at_or_in(path, prefix.rstrip("/")) or not prefix}
    return Snapshot(commit=commit, files={path.removeprefix(prefix): facts for path, facts in inside.items()})


def _top_above(root: Path, prefix: str) -> Path:
    return root.parents[len(Path(prefix).parts) - 1] if prefix else root


def _place(repository: Repository, top: Path, index: Path) -> Place:
    """Files that set-up put into a worktree are not work, see `setup`."""
    excludes = repository.common_dir / "worktrees" / top.name / EXCLUDES
    variables = (
        *repository.identity,
        ("GIT_DIR", str(repository.git_dir)),
        ("GIT_WORK_TREE", str(top)),
        ("GIT_INDEX_FILE", str(index)),
    )
    return Place(top, (*SETTINGS, *([f"core.excludesFile={excludes}"] if excludes.exists() else [])), variables)
