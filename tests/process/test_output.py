"""What a process prints is kept in bounded memory, and cut into lines however it came."""

from __future__ import annotations

import os
import re

from hypothesis import given
from hypothesis import strategies as st

from aotloop.process.output import HEAD_BYTES, LONGEST_LINE, TAIL_BYTES, HeadAndTail, Lines, Pipe, Tail, Whole


def captured(*chunks: bytes) -> str:
    capture = HeadAndTail()
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


# --- lines and ends ----------------------------------------------------------------------------------------------


def cut(*chunks: bytes) -> list[str]:
    lines = Lines()
    return [line for chunk in chunks for line in lines.add(chunk)] + lines.end()


def test_lines_are_whole_however_they_came() -> None:
    assert cut(b"on", b"e\ntw", b"o\r", b"\nthree") == ["one", "two", "three"]
    assert cut(b"") == []
    assert cut(b"\n\n") == ["", ""]


def test_a_character_of_a_line_split_between_two_chunks_is_whole() -> None:
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
def test_how_lines_were_cut_into_chunks_makes_no_difference(chunks: list[bytes]) -> None:
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


def test_too_long_a_line_can_be_left_out_and_counted() -> None:
    lines = Lines(5, drops_long=True)
    assert lines.add(b"12345\n123456\n1234") == ["12345"]
    assert lines.add(b"56\nnext\n1234567") == ["next"]
    assert lines._begun == ""
    assert lines.end() == []
    assert lines.left_out == 3


@given(st.lists(st.binary(max_size=20), max_size=10), st.integers(1, 12))
def test_how_lines_were_cut_makes_no_difference_to_what_is_left_out(chunks: list[bytes], longest: int) -> None:
    pieces, whole = Lines(longest, drops_long=True), Lines(longest, drops_long=True)
    read = [line for chunk in chunks for line in pieces.add(chunk)] + pieces.end()
    assert read == whole.add(b"".join(chunks)) + whole.end()
    assert pieces.left_out == whole.left_out
    assert all(len(line) <= longest for line in read)


# --- the reader --------------------------------------------------------------------------------------------------


def test_a_pipe_never_waits_and_knows_when_no_more_can_come() -> None:
    reading, writing = os.pipe()
    pipe, whole = Pipe(os.fdopen(reading, "rb", buffering=0)), Whole()
    assert (pipe.take(), pipe.is_open) == (b"", True)
    os.write(writing, b"words")
    assert pipe.take() == b"words"
    os.write(writing, b"more")
    os.close(writing)
    pipe.drain(whole)
    assert (whole.text(), pipe.is_open) == ("more", False)
    assert pipe.take() == b""
    pipe.close()
