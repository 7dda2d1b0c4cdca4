"""Reverts the work of given-up atoms by new commits, newest first: all of them or none."""

from __future__ import annotations

from collections.abc import Iterable

from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved, Step, landing, other_branch
from aotloop.git.integration import Conflict, Integrated, commits_of
from aotloop.git.objects import ATOM, REVERTS, RUN, commit_tree, merge, message_of, nothing
from aotloop.git.repository import Repository


def revert(
    repository: Repository,
    atoms: Iterable[str],
    branch: str | None,
    *,
    since: str | None = None,
    run: str | None = None,
    why: str = "",
) -> Landed | Moved | Conflict | Blocked | None:
    """None: these atoms have no work on the branch. Reverted work is known by its commit, not by its atom.

    `why` is for the history.
    """
    with landing(repository) as lander:
        now = repository.head()
        if now.branch != branch:  # the branch may hold no work of them, and then there is nothing to revert
            return Blocked(other_branch(branch, now.branch))
        head = now.commit
        known = commits_of(repository, since)
        reverted = {commit.reverts for commit in known}
        given_up = set(atoms)
        current = head
        for commit in known:
            is_ours = commit.reverts is None and (run is None or commit.run == run)
            if is_ours and commit.atom in given_up and commit.sha not in reverted:
                undone = _without(repository, str(current), commit, why)
                if isinstance(undone, Conflict):
                    return undone
                current = undone
        if current == head or current is None:
            return None
        return lander.go(Step(head, current, branch))


def _without(repository: Repository, current: str, commit: Integrated, why: str) -> str | Conflict:
    """A commit that undoes it; the current one, if there is nothing left to undo."""
    before = commit.parent or nothing(repository)
    merged = merge(repository, base=commit.sha, ours=current, theirs=before)
    if merged.conflicts:
        later = commits_of(repository, since=commit.sha, paths=merged.conflicts)
        return Conflict(merged.conflicts, (*later, commit))
    if merged.tree == repository.git("rev-parse", f"{current}^{{tree}}").text:
        return current
    trailers = {REVERTS: commit.sha, ATOM: commit.atom, **({RUN: commit.run} if commit.run else {})}
    text = message_of(f"Take back {commit.atom}\n\n{why}", trailers)
    return commit_tree(repository.place, merged.tree, current, text)
