"""What a checkout is, told without changing it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.repository import Head, find_repository, pin_lists, unpin_lists
from tests.git.checkouts import MAIN, head, make_checkout, opened, save, sh, write
from tests.repositories import new_repository


def test_a_folder_without_git_is_no_repository(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None


def test_a_checkout_knows_its_folders(checkout: Path) -> None:
    repository = opened(checkout)
    assert (repository.root, repository.top, repository.prefix) == (checkout, checkout, "")
    assert repository.git_dir == repository.common_dir == checkout / ".git"
    assert repository.head() == Head(head(checkout), MAIN)


def test_a_project_in_a_sub_directory_knows_where_it_is(checkout: Path) -> None:
    repository = opened(checkout / "src")
    assert (repository.root, repository.top, repository.prefix) == (checkout / "src", checkout, "src")


def test_a_line_break_in_the_path_of_a_checkout_makes_no_difference(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "two\nlines", {"src/a.txt": "a\n"})
    repository = opened(checkout / "src")
    assert (repository.top, repository.git_dir, repository.prefix) == (checkout, checkout / ".git", "src")


def test_a_linked_worktree_shares_a_repository(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository = opened(tmp_path / "side")
    assert repository.common_dir == checkout / ".git"
    assert repository.git_dir == checkout / ".git" / "worktrees" / "side"
    assert repository.head().branch == "refs/heads/side"


def test_a_repository_without_commits_has_a_branch_and_no_head(tmp_path: Path) -> None:
    repository = opened(make_checkout(tmp_path / "empty", {}))
    assert repository.head() == Head(None, MAIN)


def test_a_detached_head_has_no_branch(checkout: Path) -> None:
    sh(checkout, "checkout", "-q", "--detach")
    assert opened(checkout).head() == Head(head(checkout), None)


def test_a_head_in_packed_refs_is_found(checkout: Path) -> None:
    sh(checkout, "pack-refs", "--all")
    assert opened(checkout).head() == Head(head(checkout), MAIN)


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    sh(tmp_path, "init", "-q", "--bare", "bare")
    with pytest.raises(Unavailable, match="without a work tree"):
        find_repository(tmp_path / "bare")


def test_a_git_that_is_too_old_is_refused(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\ncase "$*" in *version) echo git version 2.37.9;; *) echo /;; esac\n')
    old.chmod(old.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    with pytest.raises(Unavailable, match=r"git version 2\.37\.9 is too old"):
        find_repository(checkout)


def test_everything_uncommitted_is_dirty_whatever_its_name(checkout: Path) -> None:
    write(checkout, {"a.txt": "changed", "new\nfile": "x", "folder/with space": "x", "ü": "x"})
    sh(checkout, "mv", "b.txt", "moved.txt")
    assert set(opened(checkout).dirty()) == {
        "a.txt",
        "new\nfile",
        "folder/with space",
        "ü",
        "moved.txt",
        "b.txt",
    }


def test_ignored_paths_and_what_is_in_them_are_not_dirty(checkout: Path) -> None:
    write(checkout, {".claude/aot-loop-state.md": "x", ".aot/events.jsonl": "x", ".aotx": "x", ".claude/other": "x"})
    ignoring = (".claude/aot-loop-state.md", ".aot")
    assert opened(checkout).dirty(ignoring) == (".aotx", ".claude/other")


def test_asking_leaves_the_index_alone(checkout: Path) -> None:
    (checkout / "a.txt").touch()
    before = (checkout / ".git" / "index").read_bytes()
    assert opened(checkout).dirty() == ()
    assert (checkout / ".git" / "index").read_bytes() == before


def test_a_conflict_in_the_checkout_is_dirty(checkout: Path) -> None:
    sh(checkout, "checkout", "-q", "-b", "side")
    write(checkout, {"a.txt": "side\n"})
    save(checkout)
    sh(checkout, "checkout", "-q", "main")
    write(checkout, {"a.txt": "main\n"})
    save(checkout)
    sh(checkout, "merge", "side", check=False)
    assert opened(checkout).dirty() == ("a.txt",)


def test_an_identity_that_is_not_configured_is_ours(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    sh(folder, "init", "-q")
    assert dict(opened(folder).identity) == {
        "GIT_AUTHOR_NAME": "aot",
        "GIT_AUTHOR_EMAIL": "aot@localhost",
        "GIT_COMMITTER_NAME": "aot",
        "GIT_COMMITTER_EMAIL": "aot@localhost",
    }


def test_an_identity_that_is_configured_is_the_persons(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"GIT_AUTHOR_NAME": "A Person", "GIT_COMMITTER_NAME": "A Person"}
    sh(checkout, "config", "user.email", "a@example.org")
    emails = {"GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_EMAIL": "a@example.org"}
    assert dict(opened(checkout).identity) == names | emails
    sh(checkout, "config", "--unset", "user.email")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "me@example.org")
    assert dict(opened(checkout).identity) == names | {"GIT_COMMITTER_EMAIL": "aot@localhost"}


def test_files_that_look_like_a_repository_do_not_hide_the_real_one(checkout: Path) -> None:
    write(checkout, {"src/HEAD": "ref: refs/heads/x\n", "src/objects/x": "", "src/refs/x": ""})
    repository = opened(checkout / "src")
    assert (repository.top, repository.prefix) == (checkout, "src")


def _is_made_to_run(folder: Path, canary: Path) -> None:
    """A repository whose settings and attributes run a program whenever git looks at a file again."""
    new_repository(folder)
    write(folder, {".gitattributes": "* filter=evil\n"})
    sh(folder, "add", "--all")
    sh(folder, "commit", "--quiet", "--message=x")
    for name in ("clean", "smudge", "process"):
        sh(folder, "config", f"filter.evil.{name}", f"touch {canary}; cat")
    sh(folder, "config", "core.fsmonitor", f"touch {canary}")
    for path in folder.iterdir():
        if path.is_file():
            path.write_text("touched")


def test_a_repository_that_a_check_made_in_the_projects_folder_is_refused(checkout: Path, tmp_path: Path) -> None:
    """Seen: in a project below the top of its repository, a check made one, and the next run obeyed its settings."""
    _is_made_to_run(checkout / "src", tmp_path / "ran")
    with pytest.raises(Unavailable, match=r"src has a \.git of its own, but its files belong to"):
        find_repository(checkout / "src")
    assert not (tmp_path / "ran").exists()


def test_a_repository_of_its_own_in_another_one_is_a_repository(checkout: Path) -> None:
    inner = make_checkout(checkout / "inner", {"a": "a\n"})
    assert opened(inner).top == inner


def test_what_a_submodule_says_is_not_done(checkout: Path, tmp_path: Path) -> None:
    """Seen: a check put another repository in the place of a submodule's, and `git status` ran its filter."""
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    save(checkout)
    repository = opened(checkout)
    assert repository.dirty() == ()
    (checkout / "library" / ".git").unlink()
    _is_made_to_run(checkout / "library", tmp_path / "ran")
    assert repository.dirty() == ("library",)
    assert not (tmp_path / "ran").exists()


def test_lists_in_the_home_folder_are_heard_as_they_were(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"config/git/ignore": "*.log\n"})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(checkout, {"x.log": "x", "y": "y"})
    repository = opened(checkout)
    pin_lists(repository)
    write(tmp_path, {"config/git/ignore": "y\n", "config/git/attributes": "* filter=x\n"})
    assert repository.dirty() == ("y",)
    unpin_lists(repository)
