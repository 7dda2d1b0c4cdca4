"""Replies of servers that leave keys out, or put others in their place."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.agents.contract import Tokens
from aotloop.agents.openai.reply import Collected
from tests.agents.openai.foreign_server import call, delta, usage


def collected(*events: Any) -> Collected:
    found = Collected()
    for event in events:
        found.add(event)
    return found


def choice(**values: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **values}]}


@pytest.mark.parametrize(
    "events",
    [
        [delta(role="assistant", content=""), delta(content="hel"), delta(content="lo"), delta("stop")],
        [delta("stop", content="hello")],
        [delta(content=None), delta(content="hello"), delta("stop", content=None)],
        [delta(content=[{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]), delta("stop")],
        [delta(content="hello"), choice(delta=None, finish_reason="stop")],
        [delta(content="hello"), choice(finish_reason="stop")],
        [choice(message={"role": "assistant", "content": "hello"}, finish_reason="stop")],
        [delta(content="hello"), delta("")],
        [delta(content="hello"), delta("eos_token"), delta(None)],
        [5, None, [], "x", {}, {"choices": None}, {"choices": [7]}, delta("stop", content="hello")],
        [delta(reasoning_content="no"), delta(reasoning="no"), delta("stop", content="hello")],
        [delta(content="<think>```a.py\nno\n```</think>"), delta("stop", content="hello")],
        [delta(content="no\n</thi"), delta("stop", content="nk>hello")],
        [delta(content="\n<thinking>no</think> no</thinking>"), delta("stop", content="hello")],
    ],
)
def test_the_same_words_in_many_shapes(events: list[Any]) -> None:
    found = collected(*events)
    assert found.text == "hello"
    assert found.finish
    assert found.is_any
    assert found.size >= len("hello")


def test_a_thought_without_an_end_is_no_answer_and_a_file_about_thoughts_is_one() -> None:
    assert collected(delta("length", content="<think>```a.py\nno\n```")).text == ""
    file = "```a.py\nEND = '</think>'\n```"
    assert collected(delta("stop", content=file)).text == file
    assert collected(delta("stop", content=f"<think>no</think>{file}")).text == file


def test_a_character_that_was_cut_in_two_is_whole_again() -> None:
    found = collected(delta(content="a \ud83d"), delta(content="\ude00 \ud800"), delta("stop"))
    assert found.text == "a 😀 \ufffd"
    assert collected(delta(tool_calls=[call("read", "\udfff")])).calls(1)[0].arguments == "\ufffd"


def test_an_answer_that_did_not_come_to_its_end_has_no_end() -> None:
    assert collected(delta(content="hello"), usage()).finish is None
    assert not collected(usage(), {}).is_any


@pytest.mark.parametrize(
    "events",
    [
        [delta(tool_calls=[call("read", '{"pa')]), delta(tool_calls=[call("", 'th": "a"}', id=None)])],
        [delta(tool_calls=[call("read", "")]), *(delta(tool_calls=[call("", one, id="")]) for one in '{"path": "a"}')],
        [delta(tool_calls=[call("re", "")]), delta(tool_calls=[call("ad", '{"path": "a"}')])],
        [delta(tool_calls=[call("read", {"path": "a"})])],
        [delta(tool_calls=[call("read", '{"path": "a"}', index=None, id=None)])],
        [delta(tool_calls=[call("read", '{"path": "a"}', index="0", type=None)])],
        [delta(function_call={"name": "read", "arguments": ""}), delta(function_call={"arguments": '{"path": "a"}'})],
        [choice(message={"tool_calls": [call("read", '{"path": "a"}')]}, finish_reason="stop")],
    ],
)
def test_the_same_call_in_many_shapes(events: list[Any]) -> None:
    (one,) = collected(*events).calls(1)
    assert (one.name, one.arguments) == ("read", '{"path": "a"}')
    assert one.id


@pytest.mark.parametrize(
    "second",
    [
        call("list", "{}", index=1, id="c2"),
        call("list", "{}", index=0, id="c2"),
        call("list", "{}", index=0, id=""),
        call("list", "{}", index=None, id=None),
    ],
    ids=["numbered", "all have the number 0", "number 0 and no id", "neither"],
)
@pytest.mark.parametrize("together", [True, False])
def test_two_calls_stay_two(second: dict[str, Any], *, together: bool) -> None:
    first = call("read", '{"path": "a"}', index=second["index"] and 0, id=second["id"] and "c1")
    events = [delta(tool_calls=[first, second])] if together else [delta(tool_calls=[one]) for one in (first, second)]
    calls = collected(*events).calls(3)
    assert [(one.name, one.arguments) for one in calls] == [("read", '{"path": "a"}'), ("list", "{}")]
    assert len({one.id for one in calls}) == 2
    assert not {one.id for one in calls} & {one.id for one in collected(*events).calls(4) if one.id.startswith("call")}


@pytest.mark.parametrize("part", [None, {}, {"function": None}, {"function": {"name": 3, "arguments": 5}}, "x"])
def test_a_call_that_makes_no_sense_is_no_reason_to_end(part: Any) -> None:
    assert all(isinstance(one.arguments, str) for one in collected(delta(tool_calls=[part])).calls(1))


def counts(**values: Any) -> dict[str, Any]:
    return {**usage(), "usage": {**usage()["usage"], **values}}


@pytest.mark.parametrize(
    ("events", "tokens"),
    [
        ([usage(20, 10)], Tokens(input=20, output=10)),
        ([usage(20, 10, choices=None)], Tokens(input=20, output=10)),
        ([{"usage": usage(20, 10)["usage"]}], Tokens(input=20, output=10)),
        ([usage(20, 1), usage(20, 9), usage(0, 0)], Tokens(input=20, output=9)),
        ([usage(20, 10), usage(18, 12)], Tokens(input=20, output=12)),
        ([counts(prompt_tokens_details={"cached_tokens": 5})], Tokens(input=15, output=10, cache_read=5)),
        ([counts(prompt_tokens_details={"cached_tokens": None})], Tokens(input=20, output=10)),
        ([{**usage(), "usage": None}], None),
        ([counts(prompt_tokens="20")], None),
        ([counts(prompt_tokens=-1)], None),
        ([counts(completion_tokens=10**30)], None),
        ([counts(prompt_tokens_details={"cached_tokens": 99})], None),
    ],
)
def test_counters_take_the_highest_number_of_each_kind(events: list[Any], tokens: Tokens | None) -> None:
    assert collected(*events).usage == tokens


@pytest.mark.parametrize(
    ("told", "cost"), [(0.5, 0.5), (0, 0.0), (None, None), ("1", None), (-1, None), (float("nan"), None), (1e9, None)]
)
def test_a_cost_counts_if_it_makes_sense(told: Any, cost: float | None) -> None:
    assert collected(counts(cost=told), usage()).cost == cost
