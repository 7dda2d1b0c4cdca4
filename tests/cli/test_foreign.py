"""What others wrote is shown so that it can be read, and cannot steer the terminal."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from aotloop.cli.foreign import headline, last_lines, prose, visible, wrapped

anything = st.text(st.characters(), max_size=60) | st.lists(
    st.sampled_from(
        ["\x1b", "[", "]", "31", "m", "0;", "\a", "\x9b", "P", "\\", "\r", "\n", "\b", "x", "\u202e", "\x1b[2J"]
    ),
    max_size=20,
).map("".join)


def can_steer(text: str) -> bool:
    return any(not character.isprintable() and character not in "\u200c\u200d" for character in text)


@given(anything)
def test_nothing_unprintable_is_left(text: str) -> None:
    assert not can_steer(visible(text))
    assert not can_steer(prose(text))
    assert not any(can_steer(line) for line in last_lines(text, 5))


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=40))
def test_what_is_harmless_is_left_alone(text: str) -> None:
    assert visible(text) == prose(text) == text


def test_different_texts_stay_different_where_it_matters() -> None:
    assert visible("rm \u202e-rf\x1b[8m x\n") == "rm \\u202e-rf\\x1b[8m x\\n"
    assert visible("a\u00a0b\u3000c") == "a\\xa0b\\u3000c"


def test_prose_is_one_line_without_sequences() -> None:
    assert prose(" one\n\ttwo\u3000three \x1b[31mred\x1b[0m\x1b]0;title\a end ") == "one two three red end"
    assert prose("family: 👨\u200d👩\u200d👧") == "family: 👨\u200d👩\u200d👧"


def test_an_overview_shows_the_first_line_of_what_is_long() -> None:
    assert headline("no\nluck") == "no luck"
    assert headline("exit 1; last line: FAILED\n" + "Traceback\n" * 100) == "exit 1; last line: FAILED …"
    assert headline("x" * 5000) == "x" * 5000


def test_the_last_lines_are_as_a_terminal_would_show_them() -> None:
    assert last_lines("one\r\ntwo\r\n10%\r50%\r100%\n\tindented\n\n", 3) == ["two", "100%", "        indented"]
    assert last_lines("x" * 5000, 3) == ["x" * 240 + "…"]


@given(st.lists(st.text("ab日", min_size=1, max_size=12), min_size=1), st.integers(24, 40), st.integers(10, 40))
def test_lines_are_broken_between_words_and_nothing_is_lost(words: list[str], room: int, first: int) -> None:
    lines = wrapped(" ".join(words), room, first)
    assert " ".join(lines) == " ".join(words)
    for number, line in enumerate(lines):
        assert cell_len(line) <= (first if number == 0 else room) or " " not in line
    for line, following in pairwise(lines[1:]):
        assert cell_len(line) + 1 + cell_len(following.split(" ")[0]) > room
