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
from aotloop.git.worktrees import worktree
from aotloop.git.worktrees.worktree import Desk

_PATH = "path"
_DRAFT = "path.new"
_LONGEST = 1 << 14
_IGNORING = ".gitignore"


def make(desk: Desk) -> None:
    remove_tree(desk.own)
    desk.own.mkdir(parents=True)
    draft = desk.own / _DRAFT  # in one step: half a path would look like a worktree of another pool
    draft.write_bytes(os.fsencode(desk.path))
    draft.replace(desk.own / _PATH)
    remove_tree(desk.path)
    desk.path.mkdir(mode=0o700)
    reset(desk)


def is_registered(desk: Desk) -> bool:
    return read_plain(desk.own / _PATH, _LONGEST) == os.fsencode(desk.path)


def is_unregistered(desk: Desk) -> bool:
    """Our folder for it is not there, or its maker died before it said where the worktree is, or while it removed it.

    If no process holds its lock, any pool may remove what is left: there are no files elsewhere.
    """
    try:
        return not (desk.own / _PATH).lstat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # not known
        return False


def reset(desk: Desk) -> bool:
    """Whether the worktree provably equals its base; ignored files stay. What the agent did with git is forgotten."""
    tree = desk.tree
    tree.prepare()
    remove_tree(desk.path / GIT)
    remove_oddities(desk.path)
    tree.fill(desk.base)
    give_git_folder(tree, desk.base, desk.path / GIT)
    fill_submodules(tree, desk.base, desk.path / GIT)
    worktree.forget(desk)
    _remove_ignoring(desk)
    if not _is_clean(desk):
        desk.git("clean", "-ffdq")
        if not _is_clean(desk):
            worktree.note(desk)
            if not _is_clean(desk):
                return False
    if desk.repository.prefix:
        desk.cwd.mkdir(parents=True, exist_ok=True)
        require_real_folder(desk.path, desk.repository.prefix)
    return True


def remove(desk: Desk) -> None:
    """Removes the files, then the registration: if we die in between, the next pool knows what is left."""
    remove_tree(desk.path)
    if is_registered(desk) or is_unregistered(desk):  # a worktree elsewhere may have the same name
        remove_tree(desk.own)


def _remove_ignoring(desk: Desk) -> None:
    """An ignore file of the agent that ignores itself would hide all other files beside it from us."""
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    while hiding := [path for path in desk.git(*words).fields if posixpath.basename(path) == _IGNORING]:
        folders = {path: posixpath.dirname(path) for path in hiding}
        tracked = desk.git(
            "ls-files", "-z", "--", *(f":(top,literal){folder or '.'}" for folder in folders.values())
        ).fields
        beside_ours = [
            path for path, folder in folders.items() if not folder or any(is_at_or_in(file, folder) for file in tracked)
        ]
        for path in beside_ours:
            remove_tree(desk.path / path)
        if not beside_ours:
            return


def _is_clean(desk: Desk) -> bool:
    """Empty folders count, too, though `git status` does not see them: a check may need one."""
    seen = desk.git("ls-files", "-z", "--modified", "--others", "--directory", "--exclude-standard")
    return not seen.out and are_as_committed(desk.tree, desk.base)
