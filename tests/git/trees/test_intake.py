"""What no commit can contain is refused with a reason, at once; the rest is taken in."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.git.commits.attempt_commit import changed_paths, commit
from aotloop.git.trees.survey import NotTakeable
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.worktree import Worktree
from aotloop.process.cancellation import Cancellation
from tests.git.checkouts import head, make_checkout, nested, opened, sh, write


@pytest.fixture
def worktree(pool: Pool, checkout: Path) -> Worktree:
    return pool.take(head(checkout))


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 << 30)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a huge file": (lambda tree: sparse(tree / "big"), "big is too large"),
    "a huge list": (lambda tree: sparse(tree / ".gitignore"), r"\.gitignore is no file that git could read"),
    "a pipe that git reads": (lambda tree: os.mkfifo(tree / "src" / ".gitattributes"), "no file that git could read"),
    "folders without end": (lambda tree: nested(tree, 2_200), "nested too deep"),
}


@pytest.mark.parametrize("left", REFUSED)
def test_what_cannot_be_taken_in_is_refused_with_a_reason(worktree: Worktree, left: str) -> None:
    write(worktree.path, {"new": "x"})
    act, reason = REFUSED[left]
    act(worktree.path)
    with pytest.raises(NotTakeable, match=reason):
        changed_paths(worktree)


def test_pipes_and_huge_files_that_are_ignored_are_no_work(pool: Pool, checkout: Path) -> None:
    worktree = pool.take(head(checkout))
    write(worktree.path, {".gitignore": "big\n"})
    sparse(worktree.path / "big")
    os.mkfifo(worktree.path / "pipe")
    assert changed_paths(worktree) == (".gitignore",)


@pytest.mark.parametrize("pointer", ["gitdir: {}", "gitdir: ../.git", "nonsense"])
def test_a_repository_in_the_folder_is_never_entered(worktree: Worktree, tmp_path: Path, pointer: str) -> None:
    evil = make_checkout(tmp_path / "evil")
    sh(evil, "config", "core.fsmonitor", f"touch {tmp_path}/ran")
    write(worktree.path, {"src/.git": pointer.format(evil / ".git"), "src/new": "x"})
    assert changed_paths(worktree) == ("src/new",)
    assert not (tmp_path / "ran").exists()


def test_a_submodule_that_points_elsewhere_is_not_entered(checkout: Path, tmp_path: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    sh(checkout, "commit", "-q", "-m", "with a library")
    evil = make_checkout(tmp_path / "evil")
    sh(evil, "config", "filter.x.clean", f"touch {tmp_path}/ran")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        write(worktree.path, {"lib/.git": f"gitdir: {evil}/.git", "lib/.gitattributes": "* filter=x\n", "a.txt": "x"})
        with pytest.raises(NotTakeable, match="commits in submodules go with the worktree: lib"):
            commit(worktree, "x", {})
    assert not (tmp_path / "ran").exists()


def test_a_submodule_that_became_files_is_files(checkout: Path, tmp_path: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    sh(checkout, "commit", "-q", "-m", "with a library")
    with Pool(opened(checkout), tmp_path / "pool") as pool:
        worktree = pool.take(head(checkout))
        for path in ("lib/.git", ".gitmodules"):
            (worktree.path / path).unlink()
        assert set(changed_paths(worktree)) == {".gitmodules", "lib", "lib/lib.txt"}


def test_the_look_at_a_folder_can_be_cancelled(worktree: Worktree) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with cancellation.governing(), pytest.raises(Exception, match="was stopped"):
        changed_paths(worktree)
