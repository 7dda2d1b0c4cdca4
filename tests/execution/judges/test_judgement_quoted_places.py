"""Which of the places that a judge quotes are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.execution.judges.judgement import places_in
from tests.steps import lines_run

FILES = {
    "a.py": "one\ntwo\nthree",
    "src/deep/b c.py": "one\n",
    "notes: old.md": "one\ntwo\n",
    "empty": "",
    "ünï.txt": "1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('a.py:2 "two"', ("a.py:2",)),
        ("`a.py:1`, and (a.py:3-4)", ("a.py:1", "a.py:3")),
        ("see ./a.py:1:5", ("a.py:1",)),
        ("**a.py:1** [a.py:2](a.py:2)", ("a.py:1", "a.py:2")),
        ("a.py:L2", ("a.py:2",)),
        ("as in src/deep/b c.py:1 one", ("src/deep/b c.py:1",)),
        ('"notes: old.md:2"', ("notes: old.md:2",)),
        ("ünï.txt:1", ("ünï.txt:1",)),
        ("a.py:1\na.py:1", ("a.py:1",)),
        ("a.py:0, a.py:4, a.py:9999999", ()),
        ("b.py:1, xa.py:1, /etc/passwd:1, ../a.py:1", ()),
        ("empty:1", ()),
        ("a.py, line 2", ()),
        ("all of it is fine", ()),
        ("", ()),
    ],
)
def test_a_place_is_a_line_of_a_file_that_is_judged(root: Path, text: str, places: tuple[str, ...]) -> None:
    assert places_in(text, FILES, root) == places


def test_a_whole_path_means_the_same_place(root: Path) -> None:
    assert places_in(f"{root}/a.py:2", FILES, root) == ("a.py:2",)


def test_a_link_leads_elsewhere(root: Path) -> None:
    (root / "link").symlink_to("/etc/passwd")
    assert places_in("link:1", {*FILES, "link"}, root) == ()


def test_a_text_that_is_all_colons_is_not_looked_through_without_end(root: Path) -> None:
    """Ten times the text: no more to look at."""

    def needed(length: int) -> int:
        return lines_run(lambda: places_in("a :1 " * length, FILES, root))

    assert needed(10_000) == needed(1000)
