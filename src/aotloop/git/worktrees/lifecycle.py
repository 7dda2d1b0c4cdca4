"""The life of one worktree: made, moved to a commit, proven clean, removed.

This module writes and removes only files in the worktree and in our folder for it.
"""

from __future__ import annotations

import os
import posixpath

from aotloop.deletion import remove_tree
from aotloop.foreign_files import read_plain
from aotloop.git.repository import is_at_or_in
from aotloop.git.trees.own_copy import give_git_folder
from aotloop.git.trees.submodules import are_as_committed, fill_submodules
from aotloop.git.trees.survey import GIT, remove_oddities
from aotloop.git.trees.work_tree import require_real_folder
from aotloop.git.worktrees.worktree import Worktree, forget_noise, note_noise

_PATH = "path"
_DRAFT = "path.new"
_LONGEST = 1 << 14
_IGNORING = ".gitignore"


def make(worktree: Worktree) -> None:
    remove_tree(worktree.own)
    worktree.own.mkdir(parents=True)
    draft = worktree.own / _DRAFT  # in one step: half a path would look like a worktree of another pool
    draft.write_bytes(os.fsencode(worktree.path))
    draft.replace(worktree.own / _PATH)
    remove_tree(worktree.path)
    worktree.path.mkdir(mode=0o700)
    reset(worktree)


def is_registered(worktree: Worktree) -> bool:
    return read_plain(worktree.own / _PATH, _LONGEST) == os.fsencode(worktree.path)


def is_unregistered(worktree: Worktree) -> bool:
    """Our folder for it is not there, or its maker died before it said where the worktree is, or while it removed it.

    If no process holds its lock, any pool may remove what is left: there are no files elsewhere.
    """
    try:
        return not (worktree.own / _PATH).lstat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # not known
        return False


def reset(worktree: Worktree) -> bool:
    """Whether the worktree provably equals its base; ignored files stay. What the agent did with git is forgotten."""
    tree = worktree.tree
    tree.prepare()
    remove_tree(worktree.path / GIT)
    remove_oddities(worktree.path)
    tree.fill(worktree.base)
    give_git_folder(tree, worktree.base, worktree.path / GIT)
    fill_submodules(tree, worktree.base, worktree.path / GIT)
    forget_noise(worktree)
    _remove_ignoring(worktree)
    if not _is_clean(worktree):
        worktree.git("clean", "-ffdq")
        if not _is_clean(worktree):
            note_noise(worktree)
            if not _is_clean(worktree):
                return False
    if worktree.repository.prefix:
        worktree.cwd.mkdir(parents=True, exist_ok=True)
        require_real_folder(worktree.path, worktree.repository.prefix)
    return True


def remove(worktree: Worktree) -> None:
    """Removes the files, then the registration: if we die in between, the next pool knows what is left."""
    remove_tree(worktree.path)
    if is_registered(worktree) or is_unregistered(worktree):  # a worktree elsewhere may have the same name
        remove_tree(worktree.own)


def _remove_ignoring(worktree: Worktree) -> None:
    """An ignore file of the agent that ignores itself would hide all other files beside it from us."""
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    while hiding := [path for path in worktree.git(*words).fields if posixpath.basename(path) == _IGNORING]:
        folders = {path: posixpath.dirname(path) for path in hiding}
        tracked = worktree.git(
            "ls-files", "-z", "--", *(f":(top,literal){folder or '.'}" for folder in folders.values())
        ).fields
        beside_ours = [
            path for path, folder in folders.items() if not folder or any(is_at_or_in(file, folder) for file in tracked)
        ]
        for path in beside_ours:
            remove_tree(worktree.path / path)
        if not beside_ours:
            return


def _is_clean(worktree: Worktree) -> bool:
    """Empty folders count, too, though `git status` does not see them: a check may need one."""
    seen = worktree.git("ls-files", "-z", "--modified", "--others", "--directory", "--exclude-standard")
    return not seen.out and are_as_committed(worktree.tree, worktree.base)
