"""Text from outside is made plain and short."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.wording import artifacts_inside, cut, last_line, last_lines, one_line, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("as it is", "as it is"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("a\x00b\x07c\x7fd\ud800e\ufffff", "abcdef"),
        ("a\u202eb\u2066c\ufeffd", "abcd"),
        ("a\u00a0b\tc", "a b\tc"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("  \x1b[0m \n", ""),
    ],
)
def test_only_what_can_be_shown_is_left(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_whatever_is_plain_stays_so_and_can_be_written(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert all(one.isprintable() or one in "\n\t\u200c\u200d" for one in plain(text).encode().decode())


@given(st.text(max_size=200), st.integers(40, 100))
def test_what_is_cut_fits_and_says_so(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short) <= most
    assert short == text or short.endswith(f"[{len(text)} characters, cut]")


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\n  b\tc ", 100) == "a b c"


def test_the_last_line_is_the_last_with_anything_on_it() -> None:
    assert last_line("one\n\x1b[31mtwo \x1b[0m\n \n\x1b[0m\n", 100) == "two"
    assert last_line("\n \n", 100) == ""


def test_last_lines_are_whole_if_one_of_them_fits() -> None:
    assert last_lines("first\nsecond\nthird", 14) == "second\nthird"
    assert last_lines("x" * 50, 10) == "x" * 10
    assert last_lines("all", 10) == "all"


@given(st.lists(st.text(max_size=20) | st.sampled_from(["..", "a/../..", "/etc", "a/b", "./c", "a//d", "../tree/x"])))
def test_whatever_is_kept_is_inside(paths: list[str]) -> None:
    root = Path("/nowhere/tree")
    kept, notes = artifacts_inside(paths, root)
    for path in kept:
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert path not in {"", "."}
    assert len(set(kept)) == len(kept)
    assert len(notes) <= 1


def test_an_absolute_path_into_the_tree_is_made_relative_also_by_its_real_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "tree").symlink_to("real")
    given_paths = [f"{tmp_path}/tree/a", f"{tmp_path}/real/b", f"{tmp_path}/other/c"]
    kept, notes = artifacts_inside(given_paths, tmp_path / "tree")
    assert kept == ("a", "b")
    assert len(notes) == 1
