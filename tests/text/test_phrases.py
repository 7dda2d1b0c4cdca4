"""Lists and numbers read like a sentence."""

from __future__ import annotations

from aotloop.text.phrases import counted, dollars, listed


def test_long_lists_say_how_much_is_left_out() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(list("abcde")) == "a, b, c, d, e"
    assert listed(list("abcdef")) == "a, b, c, d, e and 1 more"
    assert listed(list("abc"), 2, separator="; ") == "a; b and 1 more"


def test_a_noun_agrees_with_its_number() -> None:
    assert [counted(number, "atom") for number in (0, 1, 2, 1000)] == ["0 atoms", "1 atom", "2 atoms", "1,000 atoms"]


def test_money_has_cents() -> None:
    assert dollars(1234.5) == "$1,234.50"
