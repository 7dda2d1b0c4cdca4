"""A clean tree holds exactly the files of a commit, whatever the last check has left there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.git.repository import Repository
from aotloop.git.trees.clean_tree import put_commit, remove_clean_tree
from tests.git.checkouts import facts, head, make_checkout, nested, opened, save, sh, write


def contents(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != ".git")
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


START = {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"}


def link_for_folder(tree: Path) -> None:
    (tree / "src").rename(tree / "away")
    (tree / "src").symlink_to("/")


def sealed(tree: Path) -> None:
    write(tree, {"sealed/x": "x"})
    (tree / "sealed").chmod(0o000)


LEFT: dict[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "changed and new files": lambda tree: write(tree, {"a.txt": "bad", "new/file": "x"}),
    "ignored files": lambda tree: write(tree, {".gitignore": "*\n", "hidden": "x"}),
    "a pipe": lambda tree: os.mkfifo(tree / "src" / "pipe"),
    "a pipe where git reads": lambda tree: os.mkfifo(tree / "src" / ".gitignore"),
    "a link in place of a folder": link_for_folder,
    "a repository": lambda tree: sh(tree, "init", "-q", "inner"),
    "folders without end": lambda tree: nested(tree, 2_500),
    "a sealed folder": sealed,
    "another git folder": lambda tree: write(tree, {".git/commondir": "/nowhere\n", ".git/config": "nonsense"}),
}


@pytest.mark.parametrize("left", LEFT)
def test_whatever_was_left_there_the_files_are_those_of_the_commit(
    repository: Repository, checkout: Path, tmp_path: Path, left: str
) -> None:
    before, tree = facts(checkout), tmp_path / "tree"
    assert put_commit(repository, tree, head(checkout)) == tree
    LEFT[left](tree)
    put_commit(repository, tree, head(checkout))
    assert contents(tree) == START
    assert sh(tree, "status", "--porcelain", "--ignored") == ""
    assert sh(tree, "rev-parse", "HEAD") == head(checkout)
    remove_clean_tree(repository, tree)
    assert facts(checkout) == before
    assert not tree.exists()


def test_another_commit_replaces_the_first(repository: Repository, checkout: Path, tmp_path: Path) -> None:
    put_commit(repository, tmp_path / "tree", head(checkout))
    write(checkout, {"a.txt": "newer\n"})
    put_commit(repository, tmp_path / "tree", save(checkout))
    assert contents(tmp_path / "tree") == {**START, "a.txt": "newer\n"}


def test_what_set_up_put_there_stays(repository: Repository, checkout: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    put_commit(repository, tree, head(checkout))
    write(tree, {"modules/x": "installed", "other": "x"})
    put_commit(repository, tree, head(checkout), keeping=["modules"])
    assert contents(tree) == {**START, "modules/x": "installed"}


def test_a_project_in_a_folder_of_the_repository_is_found_there(checkout: Path, tmp_path: Path) -> None:
    assert put_commit(opened(checkout / "src"), tmp_path / "tree", head(checkout)) == tmp_path / "tree" / "src"


def test_submodules_come_along(checkout: Path, tmp_path: Path) -> None:
    library = make_checkout(tmp_path / "library", {"lib.txt": "lib\n"})
    sh(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "vendor/lib")
    commit = save(checkout)
    tree = tmp_path / "tree"
    put_commit(opened(checkout), tree, commit)
    write(tree, {"vendor/lib/lib.txt": "bad", "vendor/lib/new": "x"})
    put_commit(opened(checkout), tree, commit)
    assert contents(tree / "vendor") == {"lib/lib.txt": "lib\n", "lib/.git": "gitdir: ../../.git/modules/vendor/lib\n"}
    assert sh(tree, "submodule", "status").startswith(f" {sh(library, 'rev-parse', 'HEAD')}")


def test_filters_of_the_repository_do_not_run(checkout: Path, tmp_path: Path) -> None:
    sh(checkout, "config", "filter.x.smudge", f"touch {tmp_path}/ran; cat")
    write(checkout, {".gitattributes": "*.txt filter=x\n"})
    commit = save(checkout)
    (tmp_path / "ran").unlink(missing_ok=True)
    put_commit(opened(checkout), tmp_path / "tree", commit)
    assert not (tmp_path / "ran").exists()


def test_a_commit_that_does_not_exist_is_an_error(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="read-tree"):
        put_commit(repository, tmp_path / "tree", "0" * 40)
