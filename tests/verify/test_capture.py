"""Of whatever is printed, the head and the tail are kept, and nothing but that."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from aotloop.verify.capture import HEAD_BYTES, TAIL_BYTES, Capture


def captured(*chunks: bytes) -> str:
    capture = Capture()
    for chunk in chunks:
        capture.add(chunk)
    return capture.text()


def test_short_output_is_kept_as_it_is() -> None:
    assert captured(b"one\n", b"", b"two\n") == "one\ntwo\n"
    assert captured() == ""


def test_output_of_exactly_the_limit_is_complete() -> None:
    assert captured(b"x" * (HEAD_BYTES + TAIL_BYTES)) == "x" * (HEAD_BYTES + TAIL_BYTES)


def test_one_byte_more_is_counted_as_left_out() -> None:
    text = captured(b"a" * HEAD_BYTES, b"b", b"c" * TAIL_BYTES)
    assert text == f"{'a' * HEAD_BYTES}\n[1 bytes left out]\n{'c' * TAIL_BYTES}"


def test_invalid_utf8_is_replaced() -> None:
    assert captured(b"a\xff\xfeb") == "a��b"


def test_a_character_split_between_two_chunks_is_whole() -> None:
    assert captured("grün".encode()[:3], "grün".encode()[3:]) == "grün"


def test_a_character_split_by_a_cut_is_left_out_and_not_shown_as_damaged() -> None:
    text = captured(("€" * 10_000).encode())
    assert set(text) == set("€\n[ bytes left out]0123456789") & set(text)
    kept = len(text.replace("€", "")), text.count("€")
    left_out = int(re.findall(r"\[(\d+) bytes", text)[0])
    assert left_out + 3 * kept[1] == 30_000


@given(st.lists(st.binary(max_size=3 * HEAD_BYTES), max_size=12))
def test_how_the_output_was_cut_into_chunks_makes_no_difference(chunks: list[bytes]) -> None:
    assert captured(*chunks) == captured(b"".join(chunks))
    assert len(captured(*chunks)) <= HEAD_BYTES + TAIL_BYTES + 40
