"""What is shortened fits, and says that it was longer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.text.shorten import LINE, cut, headline, one_line, short_line, shorten, whole_words


@given(st.text(max_size=200), st.integers(1, 100))
def test_what_is_shortened_fits_and_ends_with_dots(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    assert short == text or short.endswith("…")


@given(st.text(max_size=200), st.integers(40, 100))
def test_what_is_cut_fits_and_says_how_long_it_was(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short) <= most
    assert short == text or short.endswith(f"[{len(text)} characters, cut]")


@pytest.mark.parametrize("length", [0, 1, LINE, LINE + 1, 8 * LINE, 8 * LINE + 1, 1_000_000])
def test_a_line_is_one_line_and_not_too_long(length: int) -> None:
    assert short_line("x" * length) == ("x" * length if length <= LINE else "x" * (LINE - 1) + "…")
    assert short_line("a\n\tb\r\n  c" + " " * length).startswith("a b c")


def test_a_line_that_was_not_read_to_its_end_says_so() -> None:
    assert short_line("a" + " " * 10_000 + "b") == "a …"


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\n  b\tc ", 100) == "a b c"


def test_an_overview_shows_the_first_line_of_what_is_long() -> None:
    assert headline("no\nluck") == "no luck"
    assert headline("exit 1; last line: FAILED\n" + "Traceback\n" * 100) == "exit 1; last line: FAILED …"
    assert headline("x" * 5000) == "x" * 5000


def test_a_title_is_cut_between_two_words_if_it_has_some() -> None:
    assert whole_words("A1: add\n\tthe page", 72) == "A1: add the page"
    assert whole_words("A1: add the page", 12) == "A1: add the…"
    assert whole_words("x" * 100, 12) == f"{'x' * 11}…"


@given(st.text(max_size=200), st.integers(1, 100))
def test_a_title_fits(text: str, most: int) -> None:
    assert len(whole_words(text, most)) <= most
