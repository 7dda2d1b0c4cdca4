"""Splices make one text of the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.statefile.splices import Splice, splice_in, splices_between

PARTS = st.lists(st.binary(max_size=3), max_size=8)


@given(st.binary(max_size=4), PARTS, PARTS, st.binary(max_size=4))
def test_splices_turn_the_text_before_into_the_text_after(
    head: bytes, before: list[bytes], after: list[bytes], tail: bytes
) -> None:
    text = bytearray(head + b"".join(before) + tail)
    splice_in(text, splices_between(before, after, len(head)))
    assert bytes(text) == head + b"".join(after) + tail


@given(PARTS, st.integers(0, 7), st.binary(max_size=3))
def test_only_the_part_that_differs_is_in_them(parts: list[bytes], place: int, new: bytes) -> None:
    after = [new if number == place else part for number, part in enumerate(parts)]
    found = splices_between(parts, after, 0)
    assert [one.text for one in found] == ([new] if after != parts else [])


@pytest.mark.parametrize(
    "splices", [[Splice(0, 9, b"")], [Splice(2, 1, b"")], [Splice(-1, 0, b"")], [Splice(1, 3, b""), Splice(2, 3, b"")]]
)
def test_splices_of_another_text_are_refused(splices: list[Splice]) -> None:
    with pytest.raises(ValueError, match="outside"):
        splice_in(bytearray(b"text"), splices)
