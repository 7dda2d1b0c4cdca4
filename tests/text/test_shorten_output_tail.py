"""The end of an output, harmless and short."""

from __future__ import annotations

from hypothesis import given

from aotloop.text.shorten import last_line, last_lines, terminal_lines
from tests.text.test_sanitize import anything, can_steer


@given(anything)
def test_nothing_that_steers_is_left(text: str) -> None:
    assert not can_steer(last_line(text, 100))
    assert not any(can_steer(line) for line in terminal_lines(text, 5))


def test_the_last_line_is_the_last_with_anything_on_it() -> None:
    assert last_line("one\n\x1b[31mtwo \x1b[0m\n \n\x1b[0m\n", 100) == "two"
    assert last_line("\n \n", 100) == ""
    assert last_line("x" * 1000, 100) == "x" * 99 + "…"


def test_last_lines_are_whole_if_one_of_them_fits() -> None:
    assert last_lines("first\nsecond\nthird", 14) == "second\nthird"
    assert last_lines("x" * 50, 10) == "x" * 10
    assert last_lines("all", 10) == "all"


def test_the_last_lines_are_as_a_terminal_would_show_them() -> None:
    assert terminal_lines("one\r\ntwo\r\n10%\r50%\r100%\n\tindented\n\n", 3) == ["two", "100%", "        indented"]
    assert terminal_lines("x" * 5000, 3) == ["x" * 239 + "…"]
