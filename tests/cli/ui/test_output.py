"""Text is broken between words, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from aotloop.cli.ui.output import wrapped


@given(st.lists(st.text("ab日", min_size=1, max_size=12), min_size=1), st.integers(24, 40), st.integers(10, 40))
def test_lines_are_broken_between_words_and_nothing_is_lost(words: list[str], room: int, first: int) -> None:
    lines = wrapped(" ".join(words), room, first)
    assert " ".join(lines) == " ".join(words)
    for number, line in enumerate(lines):
        assert cell_len(line) <= (first if number == 0 else room) or " " not in line
    for line, following in pairwise(lines[1:]):
        assert cell_len(line) + 1 + cell_len(following.split(" ")[0]) > room
