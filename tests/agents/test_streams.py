"""Bytes become lines, and the end of them is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.streams import LONGEST_LINE, Lines, Tail


def cut(*chunks: bytes) -> list[str]:
    lines = Lines()
    return [line for chunk in chunks for line in lines.add(chunk)] + lines.end()


def test_lines_are_whole_however_they_came() -> None:
    assert cut(b"on", b"e\ntw", b"o\r", b"\nthree") == ["one", "two", "three"]
    assert cut(b"") == []
    assert cut(b"\n\n") == ["", ""]


def test_a_character_split_between_two_chunks_is_whole() -> None:
    assert cut("grün".encode()[:3], "grün".encode()[3:]) == ["grün"]
    assert cut(b"a\xff", b"\xc3") == ["a\ufffd\ufffd"]


def test_a_line_without_end_is_handed_on_in_pieces() -> None:
    lines = Lines()
    pieces = [piece for _ in range(100) for piece in lines.add(b"x" * 1000)]
    assert pieces
    assert all(len(piece) == LONGEST_LINE for piece in pieces)
    assert sum(map(len, pieces + lines.end())) == 100_000


def test_of_a_flood_the_last_line_of_each_chunk_is_told() -> None:
    lines = Lines()
    assert lines.skim(b"one\ntwo\r\nthr") == ["two"]
    assert lines.skim(b"e") == []
    assert lines.skim(b"e\nfour") == ["three"]
    assert lines.end() == ["four"]
    assert lines.skim(b"x" * 1_000_000) == []
    assert len(lines._begun) <= LONGEST_LINE


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_how_the_output_was_cut_into_chunks_makes_no_difference(chunks: list[bytes]) -> None:
    assert cut(*chunks) == cut(b"".join(chunks))


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(1, 40))
def test_a_tail_is_the_end_and_no_more_than_that(chunks: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for chunk in chunks:
        tail.add(chunk)
    whole = b"".join(chunks)
    assert tail.total == len(whole)
    assert tail.is_cut == (len(whole) > limit)
    assert tail._held <= limit + 30
    if not tail.is_cut:
        assert tail.text() == whole.decode(errors="replace")


def test_a_tail_begins_with_a_whole_character() -> None:
    tail = Tail(10)
    tail.add("€€€€€€".encode())
    assert tail.text() == "€€€"
