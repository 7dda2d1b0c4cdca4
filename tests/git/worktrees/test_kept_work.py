"""What a failed attempt left is put on top of where the next one starts, or nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from aotloop.git.commits.attempt_commit import changed_paths, commit, keep
from aotloop.git.worktrees.kept_work import kept_commit, put_on
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.worktree import Worktree
from tests.git.checkouts import head, opened, save, sh, write


def nothing(_: Sequence[str]) -> tuple[str, ...]:
    return ()


def left_by(pool: Pool, checkout: Path, files: dict[str, str], *, removed: str | None = None) -> str:
    """What is kept of the first attempt on A1, which left these files."""
    worktree = pool.take(head(checkout))
    write(worktree.path, files)
    if removed is not None:
        (worktree.path / removed).unlink()
    assert keep(opened(checkout), worktree, atom="A1", attempt=1) is not None
    pool.give_back(worktree)
    kept = kept_commit(opened(checkout), atom="A1", attempt=1)
    assert kept is not None
    return kept


def content(worktree: Worktree) -> dict[str, str]:
    names = [
        path
        for path in worktree.path.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(worktree.path).parts
    ]
    return {path.relative_to(worktree.path).as_posix(): path.read_text() for path in names}


def test_its_files_are_there_and_the_worktree_starts_where_it_did(pool: Pool, checkout: Path) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n", "new/x": "x\n"}, removed="b.txt")
    worktree = pool.take(head(checkout))
    assert put_on(worktree, kept, nothing)
    assert content(worktree) == {"a.txt": "changed\n", "new/x": "x\n", "src/c.txt": "c\n"}
    assert sh(worktree.path, "rev-parse", "HEAD") == worktree.base == head(checkout)
    assert sh(worktree.path, "status", "--porcelain") == " M a.txt\n D b.txt\n?? new/"
    assert changed_paths(worktree) == ("a.txt", "b.txt", "new/x")


def test_what_comes_of_it_is_one_commit_on_top_of_the_newer_head(pool: Pool, checkout: Path) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n"})
    write(checkout, {"b.txt": "newer\n"})
    save(checkout)
    worktree = pool.take(head(checkout))
    assert put_on(worktree, kept, nothing)
    write(worktree.path, {"more": "more\n"})
    done = commit(worktree, "A1: work", {})
    assert done.paths == ("a.txt", "more")
    assert sh(checkout, "log", "-1", "--format=%P", str(done.sha)) == head(checkout)
    assert sh(checkout, "show", f"{done.sha}:b.txt") == "newer"


def is_untouched(worktree: Worktree) -> bool:
    return sh(worktree.path, "status", "--porcelain", "--untracked-files=all") == "" and changed_paths(worktree) == ()


def test_a_conflict_with_a_newer_head_changes_nothing(pool: Pool, checkout: Path) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n", "new": "x\n"})
    write(checkout, {"a.txt": "theirs\n"})
    save(checkout)
    worktree = pool.take(head(checkout))
    assert not put_on(worktree, kept, nothing)
    assert is_untouched(worktree)
    assert (worktree.path / "a.txt").read_text() == "theirs\n"


def test_one_path_that_no_attempt_may_change_and_nothing_of_it_is_there(pool: Pool, checkout: Path) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n", "src/c.txt": "mine\n"})
    worktree = pool.take(head(checkout))
    asked: list[str] = []

    def refuse(paths: Sequence[str]) -> tuple[str, ...]:
        asked.extend(paths)
        return ("src/c.txt",)

    assert not put_on(worktree, kept, refuse)
    assert asked == ["a.txt", "src/c.txt"]
    assert is_untouched(worktree)


@pytest.mark.parametrize("what", ["merged meanwhile", "no commit", "the beginning"])
def test_what_brings_nothing_is_a_clean_start(pool: Pool, checkout: Path, what: str) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n"})
    match what:
        case "merged meanwhile":
            write(checkout, {"a.txt": "changed\n"})
            save(checkout)
        case "no commit":
            kept = "0" * 40
        case _:
            kept = sh(checkout, "rev-list", "--max-parents=0", "HEAD")
    worktree = pool.take(head(checkout))
    assert not put_on(worktree, kept, nothing)
    assert is_untouched(worktree)


def test_the_next_to_use_the_worktree_finds_nothing_of_it(pool: Pool, checkout: Path) -> None:
    kept = left_by(pool, checkout, {"a.txt": "changed\n", "new": "x\n"})
    worktree = pool.take(head(checkout))
    assert put_on(worktree, kept, nothing)
    pool.give_back(worktree)
    again = pool.take(head(checkout))
    assert again.path == worktree.path
    assert is_untouched(again)


def test_an_attempt_of_which_nothing_is_kept_has_no_commit(checkout: Path) -> None:
    assert kept_commit(opened(checkout), atom="A1", attempt=7) is None
