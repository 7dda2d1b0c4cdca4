"""The move of a checkout back to an earlier commit: the files that differ, and then the branch.

Staged and unstaged changes of other files stay. If a changed file is among those that differ, git moves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from aotloop.git.command import Done, Place, git
from aotloop.git.commits.objects import contains
from aotloop.git.repository import Repository


def is_backward(repository: Repository, head: str, commit: str) -> bool:
    return head != commit and contains(repository, commit, head)


def move_back(place: Place, head: str, commit: str, *, holding: Sequence[int]) -> Done:
    """The caller holds the locks, and `place` has a copy of the index. A code other than 0: git refused."""
    git(place, "update-index", "-q", "--refresh", accept=(), longest=None, holding=holding)
    done = git(place, "read-tree", "-m", "-u", head, commit, accept=(), longest=None, holding=holding)
    if done.code:
        return done
    return git(place, "update-ref", "-m", "aot: back", "HEAD", commit, head, accept=(), holding=holding)
