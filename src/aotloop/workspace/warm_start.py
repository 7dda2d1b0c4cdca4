"""What a failed attempt left is put on top of where the next one starts; if that is not possible, nothing is changed.

It is merged in no work tree first, and what would come of it is looked at: a conflict, or a path that no attempt may
change, and the next attempt starts clean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aotloop.workspace.attempts import ref_of
from aotloop.workspace.desks import Desk
from aotloop.workspace.objects import Change, changes, merge
from aotloop.workspace.repository import Repository
from aotloop.workspace.submodules import SUBMODULE


def kept_commit(repository: Repository, *, atom: str, attempt: int) -> str | None:
    """What is kept of this attempt."""
    done = repository.git("rev-parse", "--verify", "--quiet", f"{ref_of(atom, attempt)}^{{commit}}", accept=())
    return done.text if done.code == 0 else None


def put_on(desk: Desk, commit: str, refuse: Callable[[Sequence[str]], Sequence[str]]) -> bool:
    """Whether the files of the worktree are now what this commit made of them, on top of where the worktree starts.

    `refuse` names those of the changed paths that no attempt may change. Raises Unavailable if git breaks off: then
    the worktree is to be given back.
    """
    tree = _merged(desk, commit)
    if tree is None:
        return False
    found = list(_changed(desk, tree))
    if not found or any(SUBMODULE in (one.mode, one.mode_before) for one in found):
        return False  # what lies in a submodule is in no commit of ours
    if refuse([one.path for one in found]):
        return False
    desk.git("read-tree", "--reset", "-u", tree)
    return True


def _merged(desk: Desk, commit: str) -> str | None:
    """The tree; None: there is no such commit any more, or it does not go together with what was merged meanwhile."""
    known = desk.repository.git("rev-parse", "--verify", "--quiet", f"{commit}^", accept=())
    if known.code:
        return None
    if known.text == desk.base:
        return f"{commit}^{{tree}}"
    merged = merge(desk.repository, base=known.text, ours=desk.base, theirs=commit, is_child=True)
    return None if merged.conflicts else merged.tree


def _changed(desk: Desk, tree: str) -> list[Change]:
    words = ("diff-tree", "-r", "--raw", "-z", "--no-renames", "--ignore-submodules=none", desk.base, tree)
    return list(changes(desk.git(*words).fields))
