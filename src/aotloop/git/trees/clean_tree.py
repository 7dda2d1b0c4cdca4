"""A clean tree: the files of one commit in a folder that agents cannot reach, for checks and judges.

The folder is used again: only what differs is written, and files that a check left are removed. Afterwards it is
proven, file by file, that exactly the commit is there. If it cannot be proven, the folder is made again.

For callers: `put_commit(repository, folder, commit)` fills it, `remove_clean_tree` ends its use. One caller at a
time may use a folder (hold a lock of your own), and the folder has to lie where agents cannot write. Git commands work
in it, with a git folder that we never read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.git.repository import Repository
from aotloop.git.trees.own_copy import give_git_folder
from aotloop.git.trees.submodules import are_as_committed, fill_submodules
from aotloop.git.trees.survey import remove_oddities
from aotloop.git.trees.work_tree import WorkTree

_TREES = "trees"


def put_commit(repository: Repository, folder: Path, commit: str, *, keeping: Iterable[str] = ()) -> Path:
    """The project's folder in the tree, with exactly the files of the commit.

    `keeping`: untracked paths, from the top of the tree, that stay: what set-up put there. Raises Unavailable.
    """
    tree = _tree(repository, folder)
    kept = tuple(keeping)
    for is_last in (False, True):
        with contextlib.suppress(*(() if is_last else (Unavailable, OSError))):
            if _put(tree, commit, kept):
                cwd = folder / repository.prefix
                cwd.mkdir(parents=True, exist_ok=True)
                return cwd
        if not is_last:
            remove_clean_tree(repository, folder)
    raise Unavailable(f"the files of {commit} cannot be put into {folder}", hint="See what git says of that commit.")


def remove_clean_tree(repository: Repository, folder: Path) -> None:
    """Removes the files, and what we keep of them."""
    tree = _tree(repository, folder)
    remove_tree(folder)
    remove_tree(tree.own)
    for above in (tree.own.parent, repository.own_folder):
        with contextlib.suppress(OSError):  # another tree is in use
            above.rmdir()


def _tree(repository: Repository, folder: Path) -> WorkTree:
    name = sha256(os.fsencode(folder.absolute())).hexdigest()[:16]
    return WorkTree(repository, folder, repository.own_folder / _TREES / name)


def _put(tree: WorkTree, commit: str, keeping: tuple[str, ...]) -> bool:
    if tree.path.is_symlink():
        remove_tree(tree.path)
    tree.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    tree.prepare()
    remove_tree(tree.path / ".git")
    remove_oddities(tree.path)
    tree.fill(commit)
    tree.git("clean", "-ffdxq", *(f"--exclude=/{_escaped(path)}" for path in keeping))
    if not _is_exact(tree, keeping):
        return False
    give_git_folder(tree, commit, tree.path / ".git")
    fill_submodules(tree, commit, tree.path / ".git")
    return are_as_committed(tree, commit)


def _is_exact(tree: WorkTree, keeping: tuple[str, ...]) -> bool:
    """Ignored files count as well."""
    excluded = (f"--exclude=/{_escaped(path)}" for path in keeping)
    seen = tree.git("ls-files", "-z", "--modified", "--others", "--directory", *excluded)
    return not seen.out


def _escaped(path: str) -> str:
    return "".join(f"\\{character}" if character in "\\*?[ " else character for character in path.rstrip("/"))
