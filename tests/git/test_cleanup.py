"""Cleaning removes what is ours, says what, and leaves what is in use or somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.git.cleanup import Cleaned, clean
from aotloop.git.commits.attempt_commit import keep
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import facts, head, sh, write


def test_a_clean_repository_stays_as_it_is(repository: Repository, checkout: Path) -> None:
    before = facts(checkout)
    assert clean(repository) == Cleaned((), (), ())
    assert facts(checkout) == before


def test_refs_worktrees_and_folders_of_ours_are_removed(repository: Repository, checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "worktree", "add", "-q", "-b", "mine", str(tmp_path / "mine"))
    before = facts(checkout)
    pool = Pool(repository, tmp_path / "pool")
    worktree = pool.take(head(checkout))
    write(worktree.path, {"half": "done"})
    keep(repository, worktree, atom="A/1", attempt=1)
    for lock in pool._locks.values():  # as if the process had died
        os.close(lock)
    cleaned = clean(repository, tmp_path / "pool")
    assert cleaned == Cleaned(("refs/aot/attempts/A%2F1-1",), (worktree.path,), ())
    assert facts(checkout) == before
    assert not (tmp_path / "pool").exists()


def test_what_a_living_run_uses_stays(repository: Repository, checkout: Path, pool: Pool) -> None:
    worktree = pool.take(head(checkout))
    write(worktree.path, {"half": "done"})
    kept = keep(repository, worktree, atom="A1", attempt=1)
    assert clean(repository, pool.folder) == Cleaned((), (), (worktree.path,))
    assert sh(worktree.path, "status", "--porcelain") == "?? half"
    assert sh(checkout, "for-each-ref", "--format=%(refname)", "refs/aot") == kept


def test_several_folders_are_cleaned_each_once(repository: Repository, checkout: Path, tmp_path: Path) -> None:
    left = []
    for folder in (None, tmp_path / "pool"):
        pool = Pool(repository, folder)
        left.append(pool.take(head(checkout)).path)
        for lock in pool._locks.values():  # as if the process had died
            os.close(lock)
    cleaned = clean(repository, None, tmp_path / "pool", tmp_path / "pool", tmp_path / "nothing there")
    assert cleaned == Cleaned((), tuple(left), ())
