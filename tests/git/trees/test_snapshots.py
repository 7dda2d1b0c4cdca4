"""What lies in a folder now becomes a commit; nothing else of the repository changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aotloop.git.repository import Repository, find_repository
from aotloop.git.trees.snapshots import take_snapshot


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / ".gitignore").write_text("ignored\ntracked\n")
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "tracked").write_text("ignored, and tracked all the same\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "add", "-f", "tracked")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def repository(folder: Path) -> Repository:
    found = find_repository(folder)
    assert found is not None
    return found


def test_what_is_changed_new_or_removed_is_in_it_and_what_is_ignored_is_not(top: Path) -> None:
    (top / "a.txt").write_text("changed\n")
    (top / "new").write_text("new\n")
    (top / "ignored").write_text("x\n")
    (top / "own").mkdir()
    (top / "own" / "state").write_text("claims\n")
    before = (git(top, "status", "--porcelain"), git(top, "for-each-ref"), (top / ".git" / "index").read_bytes())
    taken = take_snapshot(repository(top), top, without=["own", "missing"])
    after = (git(top, "status", "--porcelain"), git(top, "for-each-ref"), (top / ".git" / "index").read_bytes())
    assert after == before
    assert sorted(taken.files) == [".gitignore", "a.txt", "new", "tracked"]
    assert git(top, "show", f"{taken.commit}:a.txt") == "changed\n"
    assert git(top, "log", "--format=%s", taken.commit) == "what is judged\n"


def test_the_same_files_are_the_same_commit_and_others_are_another(top: Path) -> None:
    first = take_snapshot(repository(top), top)
    assert take_snapshot(repository(top), top) == first
    (top / "a.txt").chmod(0o755)
    other = take_snapshot(repository(top), top)
    assert other.commit != first.commit
    assert other.files["a.txt"] != first.files["a.txt"]


def test_a_project_within_a_repository_has_its_own_files_only(top: Path) -> None:
    (top / "part").mkdir()
    (top / "part" / "b.txt").write_text("b\n")
    (top / "partner").write_text("not in it\n")
    taken = take_snapshot(repository(top / "part"), top / "part")
    assert list(taken.files) == ["b.txt"]
    assert git(top, "show", f"{taken.commit}:partner") == "not in it\n"


def test_a_repository_without_a_commit_can_be_judged_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("a\n")
    assert list(take_snapshot(repository(tmp_path), tmp_path).files) == ["a"]


def test_another_work_tree_of_the_same_repository_is_taken_as_it_is(top: Path, tmp_path: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-other"
    git(top, "worktree", "add", "-q", "--detach", str(other))
    (other / "b").write_text("b\n")
    (other / "a.txt").unlink()
    assert sorted(take_snapshot(repository(top), other).files) == [".gitignore", "b", "tracked"]
