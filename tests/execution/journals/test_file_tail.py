"""What is in the place of a journal: nothing that is not a file of ours is read, followed or waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.execution.journals.file_tail import FollowedLines, last_bytes


def a_link(path: Path) -> None:
    (path.parent / "private").write_text("private\n")
    path.symlink_to("private")


@pytest.mark.parametrize(
    "make", [a_link, os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero"), Path.exists]
)
def test_only_a_file_is_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "events.jsonl"
    make(path)
    assert last_bytes(path, 100) == (b"", 0)
    assert FollowedLines(path).fresh() == []


def test_a_link_of_the_user_is_followed_where_it_may_be_one(tmp_path: Path) -> None:
    a_link(tmp_path / ".env")
    assert last_bytes(tmp_path / ".env", 100, follows_link=True) == (b"private\n", 0)
