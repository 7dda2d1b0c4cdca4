"""Kept work: applies the files of a failed attempt to the start of the next one; on failure nothing changes.

The merge first happens without a work tree, and its result is examined. After a conflict, or a change of a path that no
attempt may change, the next attempt starts clean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aotloop.git.commits.attempt_commit import ref_of
from aotloop.git.commits.integration import made_by
from aotloop.git.commits.objects import Change, changes, merge
from aotloop.git.repository import Repository
from aotloop.git.trees.submodules import SUBMODULE
from aotloop.git.worktrees.worktree import Worktree


def kept_commit(repository: Repository, *, atom: str, attempt: int) -> str | None:
    """The kept commit of this attempt."""
    done = repository.git("rev-parse", "--verify", "--quiet", f"{ref_of(atom, attempt)}^{{commit}}", accept=())
    return done.text if done.code == 0 else None


def kept_paths(repository: Repository, commit: str, *, atom: str, attempt: int, run: str) -> tuple[str, ...] | None:
    """The paths that this attempt changed; None: the repository does not know this commit as the attempt's work."""
    if kept_commit(repository, atom=atom, attempt=attempt) != commit:
        return None
    made = made_by(repository, commit)
    if made is None or (made.atom, made.attempt, made.run) != (atom, str(attempt), run):
        return None
    words = ("diff-tree", "-r", "--name-only", "-z", "--no-renames", "--ignore-submodules=none", "--root")
    return repository.git(*words, "--no-commit-id", commit).fields


def put_on(worktree: Worktree, commit: str, refuse: Callable[[Sequence[str]], Sequence[str]]) -> bool:
    """Puts this commit's work on top of the worktree's start; returns whether the files are now like that.

    `refuse` names the changed paths that no attempt may change. Raises Unavailable if git fails: then the caller gives
    the worktree back.
    """
    tree = _merged(worktree, commit)
    if tree is None:
        return False
    found = list(_changed(worktree, tree))
    if not found or any(SUBMODULE in (change.mode, change.mode_before) for change in found):
        return False  # the files in a submodule are in no commit of ours
    if refuse([change.path for change in found]):
        return False
    worktree.git("read-tree", "--reset", "-u", tree)
    return True


def _merged(worktree: Worktree, commit: str) -> str | None:
    """The tree; None: the commit does not exist any more, or it conflicts with work that was merged meanwhile."""
    known = worktree.repository.git("rev-parse", "--verify", "--quiet", f"{commit}^", accept=())
    if known.code:
        return None
    if known.text == worktree.base:
        return f"{commit}^{{tree}}"
    merged = merge(worktree.repository, base=known.text, ours=worktree.base, theirs=commit, is_child=True)
    return None if merged.conflicts else merged.tree


def _changed(worktree: Worktree, tree: str) -> list[Change]:
    words = ("diff-tree", "-r", "--raw", "-z", "--no-renames", "--ignore-submodules=none", worktree.base, tree)
    return list(changes(worktree.git(*words).fields))
