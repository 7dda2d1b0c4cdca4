"""Snapshots of a work tree as git would commit it; they change no index, no branch and no file.

The commit has no parent, so that a worktree of it shows files and no history.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.git.commits.objects import nothing, without_history
from aotloop.git.repository import Repository, is_at_or_in
from aotloop.git.trees.intake import take_in
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.trees.work_tree import EXCLUDES, WorkTree
from aotloop.git.worktrees.worktree import WORKTREES

_SNAPSHOTS = "snapshots"


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    files: dict[str, str]
    """The files of the project: path from there → git's identity of content and mode."""


def take_snapshot(repository: Repository, root: Path, *, without: Iterable[str] = ()) -> Snapshot:
    """`root`: the project, in the person's checkout or in a worktree of ours; `without`: paths from there.

    Raises Unavailable.
    """
    top = _top_above(root.resolve(), repository.prefix)
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    tree = WorkTree(repository, top, repository.own_folder / _SNAPSHOTS / secrets.token_hex(8))
    try:
        commit = _committed(tree, [f"{prefix}{path}" for path in without])
    finally:
        remove_tree(tree.own)
        with contextlib.suppress(OSError):  # others are in use
            tree.own.parent.rmdir()
            repository.own_folder.rmdir()
    listed = repository.git("ls-tree", "-r", "-z", "--full-tree", commit).fields
    entries = (line.partition("\t") for line in listed)
    inside = {path: facts for facts, _, path in entries if is_at_or_in(path, prefix.rstrip("/")) or not prefix}
    return Snapshot(commit=commit, files={path.removeprefix(prefix): facts for path, facts in inside.items()})


def _committed(tree: WorkTree, without: list[str]) -> str:
    repository = tree.repository
    tree.prepare()
    excludes = repository.own_folder / WORKTREES / tree.path.name / EXCLUDES
    if excludes.is_file():  # files that set-up put into a worktree are not work, see `setup`
        shutil.copyfile(excludes, tree.own / EXCLUDES)
    head = repository.head().commit or nothing(repository)
    tree.git("read-tree", head)  # else tracked files that are also ignored would be missing
    if tree.path == repository.top:
        tree.git("add", "--all")
    else:
        try:
            take_in(tree, head)
        except NotTakeable as why:
            raise Unavailable(f"the files in {tree.path} cannot be judged: {why}") from why
    left_out = [f":(top,literal){path}" for path in without]
    if left_out:
        tree.git("rm", "-r", "-f", "--quiet", "--cached", "--ignore-unmatch", "--", *left_out)
    return without_history(repository, tree.git("write-tree").text, "what is judged\n")


def _top_above(root: Path, prefix: str) -> Path:
    return root.parents[len(Path(prefix).parts) - 1] if prefix else root
