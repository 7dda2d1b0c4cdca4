"""What is judged, where no git tells: the files of a folder, by their content."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.errors import Unavailable
from aotloop.execution.judges.case import tree_in

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.py", "docs/b.md", "docs/deep/c.md", ".claude/state.md", "node_modules/x/y.js", ".git/config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_what_is_installed_or_the_loops_own_is_not_judged(root: Path) -> None:
    tree = tree_in(root, without=[".claude/state.md"])
    assert tree.in_scope(None) == ["a.py", "docs/b.md", "docs/deep/c.md"]


@pytest.mark.parametrize(
    ("scope", "paths"),
    [
        ("docs/**/*.md", ["docs/b.md", "docs/deep/c.md"]),
        (("*.py", "docs/*.md"), ["a.py", "docs/b.md"]),
        ("docs", ["docs/b.md", "docs/deep/c.md"]),
        ("src/**", []),
    ],
)
def test_a_scope_is_one_pattern_or_several(root: Path, scope: str | tuple[str, ...], paths: list[str]) -> None:
    assert tree_in(root).in_scope(scope) == paths


def test_only_what_is_in_scope_makes_a_difference(root: Path) -> None:
    before = tree_in(root)
    (root / "a.py").write_text("other")
    after = tree_in(root)
    assert before.digest("docs/**") == after.digest("docs/**")
    assert before.digest(None) != after.digest(None)
    (root / "docs" / "b.md").rename(root / "docs" / "z.md")
    assert tree_in(root).digest("docs/**") != after.digest("docs/**")


def test_the_mode_of_a_file_and_where_a_link_leads_are_part_of_it(root: Path) -> None:
    (root / "link").symlink_to("a.py")
    first = tree_in(root).digest(None)
    (root / "a.py").chmod(0o755)
    second = tree_in(root).digest(None)
    (root / "link").unlink()
    (root / "link").symlink_to("docs/b.md")
    assert len({first, second, tree_in(root).digest(None)}) == 3


def test_a_pipe_holds_nobody_up_and_any_name_will_do(root: Path) -> None:
    os.mkfifo(root / "pipe")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).write_text("x")
    tree = tree_in(root)
    assert "pipe" not in tree.files
    assert tree.digest(None)


@pytest.fixture
def nobodys() -> Iterator[Path]:
    """A folder, seen by somebody who may not read everything, as root may."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        before = os.geteuid()
        (Path(folder) / "a.py").touch(mode=0)
        if before == 0:
            os.seteuid(NOBODY)
        try:
            yield Path(folder)
        finally:
            os.seteuid(before)


def test_what_cannot_be_read_cannot_be_judged(nobodys: Path) -> None:
    with pytest.raises(Unavailable, match=r"a\.py cannot be read"):
        tree_in(nobodys)
