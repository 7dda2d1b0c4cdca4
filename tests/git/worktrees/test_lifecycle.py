"""One worktree: what removing it takes, and what it leaves."""

from __future__ import annotations

from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.git.repository import Repository
from aotloop.git.worktrees.lifecycle import is_registered, make, remove, reset
from aotloop.git.worktrees.worktree import Worktree
from tests.git.checkouts import facts, head, write


def test_what_is_made_and_removed_leaves_nothing(repository: Repository, checkout: Path, tmp_path: Path) -> None:
    before = facts(checkout)
    worktree = Worktree(repository, tmp_path / "aot-x", head(checkout))
    assert not is_registered(worktree)
    make(worktree)
    assert is_registered(worktree)
    assert reset(worktree)
    remove(worktree)
    remove(worktree)
    worktree.own.parent.rmdir()
    repository.own_folder.rmdir()
    assert facts(checkout) == before


def test_a_registration_of_the_same_name_elsewhere_is_not_removed(
    repository: Repository, checkout: Path, tmp_path: Path
) -> None:
    theirs = Worktree(repository, tmp_path / "theirs" / "aot-x", head(checkout))
    theirs.path.parent.mkdir()
    make(theirs)
    remove(Worktree(repository, tmp_path / "ours" / "aot-x", head(checkout)))
    assert is_registered(theirs)


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/file": "x", "tree/inner/file": "x"})
    (tmp_path / "tree" / "inner" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "inner").chmod(0o500)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
    assert (tmp_path / "outside" / "file").exists()
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "missing")
    assert (tmp_path / "outside" / "file").exists()
