"""Whole folders are deleted, however deep they are, and no link is followed."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.deletion import remove_tree
from tests.git.checkouts import nested, write


def test_folders_nested_so_deep_that_nobody_can_name_them_are_removed(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    nested(tmp_path / "tree", 2_200)
    remove_tree(tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []


def test_pipes_links_and_sealed_folders_are_removed_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, {"outside/file": "x", "tree/a/b/file": "x", "tree/sealed/inner/file": "x"})
    os.mkfifo(tmp_path / "tree" / "a" / "pipe")
    (tmp_path / "tree" / "a" / "b" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "sealed" / "inner").chmod(0o000)
    (tmp_path / "tree" / "sealed").chmod(0o000)
    remove_tree(tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (tmp_path / "outside" / "file").exists()
