"""Whatever path a model writes, it stays in the folder of the attempt; links, pipes and huge files are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.agents.openai.workspace import MOST_BYTES, Refused, Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (tmp_path / "secret").write_text("outside")
    (folder / "a.py").write_text("a = 1\n")
    (folder / "out").symlink_to(tmp_path)
    (folder / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "pipe")
    (folder / "huge").write_bytes(b"x" * (MOST_BYTES + 1))
    return folder


BAD = [
    "../secret",
    "/etc/passwd",
    "out/secret",
    "link",
    "pipe",
    "huge",
    "a.py/b",
    "x\0y",
    "~/x",
    "a" * 600,
    ".",
    "\ud800",
]


@pytest.mark.parametrize("path", BAD)
def test_nothing_outside_is_read(root: Path, path: str) -> None:
    with pytest.raises(Refused):
        Workspace(root).read(path)


@pytest.mark.parametrize(
    "path", ["../new", "/tmp/new", "out/new", "link", "pipe", ".git/config", ".aot/x", ".claude/aot-loop-state.md", "."]
)
def test_nothing_outside_is_written(root: Path, path: str) -> None:
    space = Workspace(root)
    with pytest.raises(Refused):
        space.write(path, "x")
    assert (root.parent / "secret").read_text() == "outside"
    assert sorted(one.name for one in root.parent.iterdir()) == ["secret", "tree"]
    assert not space.changed


def test_too_much_is_not_written_and_a_mode_is_kept(root: Path) -> None:
    with pytest.raises(Refused, match="at most"):
        Workspace(root).write("a.py", "x" * (MOST_BYTES + 1))
    (root / "a.py").chmod(0o755)
    Workspace(root).patch("a.py", "a = 1", "a = 2")
    assert ((root / "a.py").read_text(), (root / "a.py").stat().st_mode & 0o777) == ("a = 2\n", 0o755)


def test_a_patch_needs_exactly_one_place(root: Path) -> None:
    for old in ("", "b", "=", " "):
        if (root / "a.py").read_text().count(old) != 1:
            with pytest.raises(Refused, match="exactly once"):
                Workspace(root).patch("a.py", old, "x")


def test_a_file_keeps_its_line_ends(root: Path) -> None:
    (root / "dos.txt").write_bytes(b"a\r\nb\r\n")
    space = Workspace(root)
    space.patch("dos.txt", "a\nb", "c\nd")
    assert (root / "dos.txt").read_bytes() == b"c\r\nd\r\n"
    space.write("dos.txt", "x\ny\n")
    assert (root / "dos.txt").read_bytes() == b"x\r\ny\r\n"
    space.write("new.txt", "x\ny\n")
    assert (root / "new.txt").read_bytes() == b"x\ny\n"


def test_a_search_follows_no_link_and_ends(root: Path) -> None:
    assert Workspace(root).search("a = ") == "a.py:1: a = 1"
    assert Workspace(root).search("outside") == "no line has these words"
