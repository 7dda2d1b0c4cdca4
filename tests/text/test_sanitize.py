"""What others wrote is shown so that it can be read, cannot steer a terminal, and hides nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.text import sanitize
from aotloop.text.sanitize import plain, prose, visible, without_sequences

PIECES = ["\x1b", "[", "]", "31", "m", "0;", "\a", "\x9b", "\x9d", "\x9c", "P", "\\", "\r", "\n", "\b", "x", "\u202e"]
anything = st.text(st.characters(), max_size=60) | st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


def can_steer(text: str, kept: str = "\u200c\u200d") -> bool:
    return any(not character.isprintable() and character not in kept for character in text)


@given(anything)
def test_nothing_that_steers_is_left_and_any_file_can_hold_the_rest(text: str) -> None:
    assert not can_steer(visible(text), kept="")
    assert not can_steer(prose(text))
    assert not can_steer(plain(text), kept="\n\t\u200c\u200d")
    for shown in (plain(text), prose(text), visible(text)):
        assert shown.encode().decode() == shown


@given(anything)
def test_what_is_harmless_already_stays_as_it_is(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert prose(prose(text)) == prose(plain(text)) == prose(text)
    assert visible(visible(text)) == visible(text)


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=40))
def test_words_are_left_alone(text: str) -> None:
    assert visible(text) == prose(text) == plain(text) == text


@given(anything, anything)
def test_different_texts_are_told_apart(first: str, second: str) -> None:
    is_plain = "\\" not in first + second  # a backslash may have been typed, and is shown as such
    assert first == second or not is_plain or visible(first) != visible(second)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("as it is", "as it is"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cend", "end"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("a\x00b\x07c\x7fd\ud800e\ufffff", "abcdef"),
        ("a\u202eb\u2066c\ufeffd", "abcd"),
        ("a\u00a0b\tc", "a b\tc"),
        ("a  \n\nb", "a\n\nb"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("  \x1b[0m \n", ""),
    ],
)
def test_lines_are_kept_and_what_cannot_be_seen_is_not(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert prose(text) == " ".join(shown.split())


def test_a_sequence_without_an_end_hides_nothing_that_comes_after_it() -> None:
    assert prose("ok \x1b]0;FAILED: 3 tests\nfailed") == "ok 0;FAILED: 3 tests failed"
    assert prose("ok \x1b[FAILED") == "ok AILED"


def test_what_is_accepted_is_shown_whole() -> None:
    assert visible("rm \u202e-rf\x1b[8m x\n") == "rm \\u202e-rf\\x1b[8m x\\n"
    assert visible("a\u00a0b\u3000c") == "a\\xa0b\\u3000c"


def test_only_sequences_are_left_out() -> None:
    assert without_sequences("\x1b[31m10%\r50%\x1b[0m\n") == "10%\r50%\n"


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1b[", "\x1b[0;", "\x1b", "\x1bP\x1b"])
def test_text_that_is_made_to_take_long_does_not(piece: str) -> None:
    """It ends at all: a search that starts anew at each mark would take hours."""
    assert prose(piece * 400_000) is not None


def test_no_other_module_has_a_way_of_its_own() -> None:
    own = re.compile(r"\\x1b\\\[\[|\\x1b\[\[0|if \w+\.isprintable\(\) (?:else|or)")
    sources = Path(sanitize.__file__).parents[1]
    found = [str(path.relative_to(sources)) for path in sources.rglob("*.py") if own.search(path.read_text("utf-8"))]
    assert sorted(found) == ["core/phases/receipts.py", "text/sanitize.py"], "the core has one of its own"


def test_a_picture_has_no_joiners() -> None:
    assert prose("👩\u200d💻 \x1b[31mred", keep_joiners=False) == "👩💻 red"
