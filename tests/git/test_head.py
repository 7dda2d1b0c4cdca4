"""The commit that is checked out, read without git: the same as git says, in every kind of checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aotloop.git import command as asking
from aotloop.git.command import head_of
from aotloop.git.head import head_commit


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    return folder


@pytest.fixture
def without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: object) -> str:
        raise AssertionError(f"git was asked about {folder}")

    monkeypatch.setattr(asking, "head_of", refuse)


def agree(folder: Path) -> str | None:
    found = head_commit(str(folder))
    assert found == git(folder, "rev-parse", "HEAD")
    return found


@pytest.mark.usefixtures("without_git")
def test_a_branch_a_packed_branch_and_a_detached_head(repository: Path) -> None:
    agree(repository)
    git(repository, "pack-refs", "--all")
    agree(repository)
    git(repository, "commit", "-q", "--allow-empty", "-m", "three")  # loose again, beside the packed one
    agree(repository)
    git(repository, "checkout", "-q", "HEAD~1")
    agree(repository)
    git(repository, "checkout", "-q", "-b", "feature/deep/name")
    agree(repository)


@pytest.mark.usefixtures("without_git")
def test_a_packed_branch_is_not_mistaken_for_one_with_a_longer_name(repository: Path) -> None:
    git(repository, "update-ref", "refs/aside/refs/heads/main", "HEAD~1")
    git(repository, "tag", "-a", "-m", "x", "main")
    git(repository, "pack-refs", "--all")
    found = head_commit(str(repository))
    assert found == git(repository, "rev-parse", "refs/heads/main")


@pytest.mark.usefixtures("without_git")
def test_folders_below_links_worktrees_and_submodules(repository: Path, tmp_path: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    agree(repository / "a" / "b")
    (tmp_path / "link").symlink_to(repository)
    agree(tmp_path / "link")
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"), "HEAD~1")
    agree(tmp_path / "tree")
    git(repository, "pack-refs", "--all")
    agree(tmp_path / "tree")
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "inner")
    agree(outer / "inner")


@pytest.mark.usefixtures("without_git")
def test_without_a_repository_or_a_commit_there_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert head_commit(str(folder)) is None
    git(folder, "init", "-q")
    assert head_commit(str(folder)) is None


def test_with_other_kinds_of_refs_git_is_asked(tmp_path: Path) -> None:
    reftable = tmp_path / "reftable"
    made = subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", str(reftable)], check=False, capture_output=True
    )
    if made.returncode == 0:  # git 2.45 or newer
        git(reftable, "commit", "-q", "--allow-empty", "-m", "one")
        agree(reftable)


def test_files_that_look_like_a_repository_without_a_work_tree_are_none(repository: Path, tmp_path: Path) -> None:
    git(repository, "clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    assert head_commit(str(tmp_path / "bare.git")) is head_of(tmp_path / "bare.git") is None
    git(repository, "clone", "-q", "--bare", ".", "fixtures")
    git(repository, "commit", "-q", "--allow-empty", "-m", "newer")
    expected = git(repository, "rev-parse", "HEAD")
    assert head_commit(str(repository / "fixtures")) == head_of(repository / "fixtures") == expected


@pytest.mark.parametrize("head", ["", "nonsense", "ref: ../../etc/passwd", "ref: refs/heads/../../x", "a" * 39])
def test_what_makes_no_sense_is_left_to_git(repository: Path, head: str) -> None:
    (repository / ".git" / "x").write_text(git(repository, "rev-parse", "HEAD"))
    (repository / ".git" / "HEAD").write_text(head)
    assert head_commit(str(repository)) == head_of(repository)


def test_refs_that_lead_in_a_circle_come_to_an_end(repository: Path) -> None:
    heads = repository / ".git" / "refs" / "heads"
    (heads / "main").write_text("ref: refs/heads/other\n")
    (heads / "other").write_text("ref: refs/heads/main\n")
    assert head_commit(str(repository)) == head_of(repository)


def test_a_half_made_repository_is_left_to_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert head_commit(str(tmp_path)) == head_of(tmp_path)
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert head_commit(str(tmp_path)) == head_of(tmp_path)
