"""Events arrive in pieces of any size, with any line ends, and with other things between them."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from aotloop.agents.openai.server_events import ServerEvents
from tests.agents.openai.foreign_server import delta, streamed

SAID = [delta(content="é—✓ 𝄞"), delta(content="a\nb"), delta("stop")]


def read(*pieces: bytes) -> tuple[list[object], ServerEvents]:
    events = ServerEvents(pieces)
    return list(events), events


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("head", ["", "\ufeff", ": hello\n\n", "event: message\nid: 7\nretry: 10\n", ":\n:\n\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_pieces_line_ends_marks_and_comments_change_nothing(end: str, head: str, size: int) -> None:
    body = streamed(*SAID, end=end, head=head.replace("\n", end))
    heard, events = read(*(body[at : at + size] for at in range(0, len(body), size)))
    assert heard == SAID
    assert events.is_done
    assert not events.stray


@given(some.lists(some.integers(0, 400), max_size=8), some.sampled_from(["\n", "\r\n", "\r"]))
def test_a_stream_may_be_cut_into_pieces_anywhere(cuts: list[int], end: str) -> None:
    body = streamed(*SAID, end=end)
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert read(*(body[begin:stop] for begin, stop in pairwise(places)))[0] == SAID


@given(some.integers(0, 400))
def test_a_stream_that_breaks_off_has_whole_events_only(length: int) -> None:
    body = streamed(*SAID)[:length]
    heard: list[object] = []
    events = ServerEvents([body])
    try:
        heard.extend(events)
    except ValueError:
        assert not events.is_done
    assert events.is_done or heard == SAID[: len(heard)]


@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_last_event_counts_without_an_empty_line_after_it(ending: str) -> None:
    heard, events = read(b'data: {"a": 1}' + ending.encode())
    assert heard == [{"a": 1}]
    assert not events.is_done


def test_data_in_several_lines_is_one_event_and_needs_no_space() -> None:
    assert read(b'data: {"a":\ndata:1}\n\ndata\n\n')[0] == [{"a": 1}]


def test_nothing_after_the_end_is_read() -> None:
    assert read(b"data: [DONE]\n\ndata: {\n\n")[0] == []


@pytest.mark.parametrize("text", ['{"error": "no such place"}', "<html>\n<p>Log in</p></html>", '{\n "choices": []\n}'])
def test_what_is_no_stream_is_kept_as_it_is(text: str) -> None:
    heard, events = read(text.encode())
    assert (heard, events.stray) == ([], text)


def test_an_event_that_is_too_deep_is_garbage() -> None:
    with pytest.raises(ValueError, match="too deep"):
        read(b"data: " + b"[" * 200_000 + b"\n\n")


@pytest.mark.parametrize("start", [b"data: ", b"", b"data: x\ndata: "])
def test_a_line_without_an_end_stays_in_bounded_memory(start: bytes) -> None:
    def endless() -> object:
        yield start
        while True:
            yield b"x" * 1_000_000

    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="too long"):
            list(ServerEvents(endless()))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000_000
