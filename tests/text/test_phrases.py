"""Lists and numbers read like a sentence."""

from __future__ import annotations

import pytest

from aotloop.text.phrases import counted, dollars, listed, nearest


def test_long_lists_say_how_much_is_left_out() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(list("abcde")) == "a, b, c, d, e"
    assert listed(list("abcdefghi")) == "a, b, c, d, e, f, g, h and 1 more"
    assert listed(list("abc"), 2, separator="; ") == "a; b and 1 more"


def test_a_noun_agrees_with_its_number() -> None:
    assert [counted(number, "atom") for number in (0, 1, 2, 1000)] == ["0 atoms", "1 atom", "2 atoms", "1,000 atoms"]


def test_money_has_cents() -> None:
    assert dollars(1234.5) == "$1,234.50"


@pytest.mark.parametrize(
    ("word", "meant"), [("A2x", "A2"), ("max_iteratoins", "max_iterations"), ("EFFORT", "effort"), ("zzz", None)]
)
def test_the_word_that_was_meant_is_found(word: str, meant: str | None) -> None:
    assert nearest(word, ["A2", "max_iterations", "effort"]) == meant


def test_how_alike_words_must_be_can_be_said() -> None:
    assert (nearest("goals", ["goal"], likeness=0.7), nearest("gxxl", ["goal"], likeness=0.7)) == ("goal", None)
