"""However a stream is cut, its lines are read, and what is too long costs no memory."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.agents.jsonlines import LONGEST, JsonLines


def read(*chunks: bytes) -> list[dict[str, Any] | str]:
    lines = JsonLines()
    return [one for chunk in chunks for one in lines.add(chunk)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_are_cut(size: int) -> None:
    data = '{"a":"grün"}\r\n\n  \nplain text\n{"b":1}\n{"not":"yet'.encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert read(*chunks) == [{"a": "grün"}, "plain text", {"b": 1}]


@pytest.mark.parametrize("line", ["[1]", "5", "null", "{", '{"a":}', '{"a":1} x', "{1:2}"])
def test_what_is_no_object_is_text(line: str) -> None:
    assert read(line.encode() + b"\n") == [line]


def test_nesting_without_end_is_text() -> None:
    assert isinstance(read(b'{"a":' * 100_000 + b"\n")[0], str)


def test_invalid_utf8_is_replaced() -> None:
    assert read(b'{"a":"\xff"}\n') == [{"a": "\ufffd"}]


def test_too_long_a_line_is_left_out_and_counted() -> None:
    lines = JsonLines()
    read = [*lines.add(b"x" * LONGEST), *lines.add(b"x"), *lines.add(b"x\n"), *lines.add(b'{"a":1}\n')]
    assert (read, lines.left_out) == ([{"a": 1}], 1)


def test_half_of_a_surrogate_pair_costs_no_line() -> None:
    (found,) = JsonLines().add(b'{"text": "\\ud83d"}\n')
    assert found == {"text": "\ud83d"}
