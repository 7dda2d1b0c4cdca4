"""What git calls changed without anybody having touched it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.git.commits.attempt_commit import changed_paths
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.worktree import Worktree
from tests.git.checkouts import done_by, head, sh, write


@pytest.fixture
def worktree(pool: Pool, checkout: Path) -> Worktree:
    """Of a commit whose files have other line endings than its attributes say."""
    write(checkout, {"one.txt": "1\r\n", "two.txt": "2\r\n"})
    sh(checkout, "add", "-A")
    write(checkout, {".gitattributes": "*.txt text eol=lf\n"})
    sh(checkout, "add", ".gitattributes")
    sh(checkout, "commit", "-q", "-m", "mixed")
    return pool.take(head(checkout))


def test_files_that_nobody_touched_are_no_changes(worktree: Worktree, pool: Pool) -> None:
    assert sh(worktree.path, "status", "--porcelain") != ""
    assert changed_paths(worktree) == ()
    pool.give_back(worktree)
    again = pool.take(worktree.base)
    assert again.path == worktree.path
    assert changed_paths(again) == ()


def test_only_what_was_touched_is_committed(worktree: Worktree, checkout: Path) -> None:
    done = done_by(worktree, {"one.txt": "one\r\n", "src/c.txt": "c2\n"})
    assert done.paths == ("one.txt", "src/c.txt")
    assert sh(checkout, "diff", "--name-only", done.base, str(done.sha)) == "one.txt\nsrc/c.txt"
    assert changed_paths(worktree) == done.paths
