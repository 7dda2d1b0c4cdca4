"""Branches and worktrees that an agent made go with its attempt; nobody else's do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.git.attempt_commit import changed_paths
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import head, save, sh, write


def branches(checkout: Path) -> list[str]:
    return sh(checkout, "branch", "--format=%(refname:short)").split()


def test_branches_that_an_agent_made_by_checking_them_out_go_with_its_attempt(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "-b", "feature/ä")
    write(desk.path, {"a.txt": "x"})
    save(desk.path)
    sh(desk.path, "switch", "-q", "-c", "another")
    sh(desk.path, "checkout", "-q", "--orphan", "orphan")
    save(desk.path)
    assert branches(checkout) == ["another", "feature/ä", "main", "orphan"]
    pool.give_back(desk)
    assert branches(checkout) == ["main"]


def test_a_branch_that_was_being_rebased_goes_too(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "-b", "feature")
    write(desk.path, {"a.txt": "x"})
    save(desk.path)
    sh(desk.path, "rebase", "-q", "--exec", "false", "HEAD~1", check=False)
    assert (desk.git_dir / "rebase-merge").exists()
    pool.give_back(desk)
    assert branches(checkout) == ["main"]


def test_a_branch_of_somebody_else_stays_though_an_agent_checked_it_out(pool: Pool, checkout: Path) -> None:
    sh(checkout, "branch", "persons-own")
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "persons-own")
    sh(desk.path, "checkout", "-q", "-b", "feature")
    sh(desk.path, "checkout", "-q", "persons-own")
    pool.give_back(desk)
    assert branches(checkout) == ["main", "persons-own"]


def test_a_branch_that_a_person_has_checked_out_meanwhile_stays(pool: Pool, checkout: Path, tmp_path: Path) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "-b", "feature")
    sh(desk.path, "checkout", "-q", "--detach")
    sh(checkout, "worktree", "add", "-q", str(tmp_path / "mine"), "feature")
    pool.give_back(desk)
    assert branches(checkout) == ["feature", "main"]


@pytest.mark.parametrize("folder", [".claude/worktrees/helper", "src/helper"])
def test_a_worktree_within_a_worktree_is_no_part_of_the_work_and_goes(pool: Pool, checkout: Path, folder: str) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "worktree", "add", "-q", "-b", "helper", folder)
    write(desk.path, {"new": "x"})
    assert changed_paths(desk) == ("new",)
    pool.give_back(desk)
    assert branches(checkout) == ["main"]
    assert "helper" not in sh(checkout, "worktree", "list")


def test_what_a_crashed_attempt_made_goes_with_its_worktree(pool: Pool, checkout: Path) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "-b", "feature")
    sh(desk.path, "worktree", "add", "-q", "-b", "helper", "helper")
    pool.close()
    assert branches(checkout) == ["main"]
    assert len(sh(checkout, "worktree", "list").splitlines()) == 1


def test_whoever_takes_over_the_worktree_of_a_crashed_attempt_removes_what_that_made(
    pool: Pool, checkout: Path
) -> None:
    desk = pool.take(head(checkout))
    sh(desk.path, "checkout", "-q", "-b", "feature")
    for lock in pool._locks.values():  # as if the process had died
        os.close(lock)
    with Pool(pool._repository, pool.folder) as other:
        assert other.take(head(checkout)).path == desk.path
        assert branches(checkout) == ["main"]
    pool._locks.clear()
