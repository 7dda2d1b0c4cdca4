"""Events are put together again, however the output was cut into chunks."""

from __future__ import annotations

import json
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.claude.event_stream import Event, Events, is_cut


def heard(*chunks: bytes) -> list[Event | str]:
    events = Events()
    return [*(one for chunk in chunks for one in events.add(chunk)), *events.end()]


def printed(*events: dict[str, Any]) -> bytes:
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events).encode()


@given(
    sizes=st.lists(st.integers(0, 3000), max_size=4),
    cuts=st.lists(st.integers(1, 2000), min_size=1, max_size=10),
)
def test_however_the_output_is_cut_the_events_are_the_same(sizes: list[int], cuts: list[int]) -> None:
    events = [{"text": "ü\u2028" * size, "type": "assistant"} for size in sizes]
    data, chunks, lengths = printed(*events), [], cycle(cuts)
    while data:
        length = next(lengths)
        chunks.append(data[:length])
        data = data[length:]
    assert heard(*chunks) == events


def test_a_line_longer_than_any_should_be_is_left_out_and_the_next_is_read() -> None:
    assert heard(b'{"type": "', b"x" * 800_000, b"x" * 800_000, b'"}\n', b'{"type": "y"}\n') == [{"type": "y"}]
    assert heard(b"x" * 2_000_000, b"x") == []


@pytest.mark.parametrize("line", ["words", "{}", "{", '{"type": 1}', "[1]", '{"type"', "null", "{" * 16_000])
def test_what_is_no_event_is_handed_on_as_it_is(line: str) -> None:
    assert heard(f"{line}\r\n\n".encode()) == [line]


def test_the_last_line_needs_no_newline() -> None:
    assert heard(b"words\n", b'{"n": 1, "type": "result"}') == ["words", {"n": 1, "type": "result"}]


def test_what_is_not_utf8_is_replaced() -> None:
    assert heard(b'{"type": "\xff"}\n') == [{"type": "\ufffd"}]


@pytest.mark.parametrize(("line", "expected"), [("{", True), ('{"type": "x"', True), ("{}", False), ("words", False)])
def test_the_beginning_of_an_event_is_known_as_such(line: str, *, expected: bool) -> None:
    assert is_cut(line) == expected
