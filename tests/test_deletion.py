"""Whole folders are deleted, however deep they are, and no link is followed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("call", ["unlink", "rmdir", "rename"])
@pytest.mark.parametrize("other", ["adds", "removes"])
def test_a_process_that_still_ends_there_does_not_stop_the_deletion(
    tmp_path: Path, call: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    write(tmp_path, {"tree/a/b/c/file": "x", "tree/a/d/file": "x"})
    made, unlink, times = getattr(os, call), os.unlink, []

    def meanwhile(*arguments: Any, **options: Any) -> None:
        times.append(call)
        if len(times) == 1:
            if other == "adds":
                (tree / "late").write_text("x")
            for found in list(tree.rglob("file"))[:1] if other == "removes" else ():
                unlink(found)
        made(*arguments, **options)

    monkeypatch.setattr(os, call, meanwhile)
    remove_tree(tree)
    assert times
    assert list(tmp_path.iterdir()) == []
