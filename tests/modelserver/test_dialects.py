"""The three APIs: the same turns, each in its own words, whole and as a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.modelserver import Answer, Call, Fail, ModelServer, Refuse, Say, Script, ToolCall, Turn, Usage, tool
from tests.modelserver.talking import PATHS, Heard, ask, send

LONG = 'words that are more than one piece, with ünïcode and "quotes"\nand lines'
SPENT = Usage(input=100, output=7, cache_read=50, cache_write=20)
SCHEMA = {"type": "object", "properties": {"success": {"type": "boolean"}}}


def heard(turn: Turn, api: str, *, streamed: bool, **more: Any) -> Heard:
    with ModelServer([Script(".", [turn])]) as server:
        return ask(server, api, streamed=streamed, **more)


def events(turn: Turn, api: str, **more: Any) -> list[dict[str, Any]]:
    return heard(turn, api, streamed=True, **more).events


class TestMessages:
    def test_text_comes_in_pieces_between_its_events(self) -> None:
        stream = events(Say(LONG, usage=SPENT), "messages")
        kinds = [one["type"] for one in stream]
        assert kinds[:2] == ["message_start", "content_block_start"]
        assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
        assert "".join(one["delta"]["text"] for one in stream if one["type"] == "content_block_delta") == LONG
        assert stream[-2]["delta"]["stop_reason"] == "end_turn"
        assert stream[0]["message"]["usage"]["cache_read_input_tokens"] == 50
        assert stream[-2]["usage"]["output_tokens"] == 7

    def test_several_tools_at_once(self) -> None:
        stream = events(Call(tool("Read", path="a"), tool("Bash", command="ls"), text="first"), "messages")
        blocks = [one["content_block"] for one in stream if one["type"] == "content_block_start"]
        assert [block.get("name") for block in blocks] == [None, "Read", "Bash"]
        assert len({block["id"] for block in blocks[1:]}) == 2
        assert _written(stream, 2) == {"command": "ls"}
        assert stream[-2]["delta"]["stop_reason"] == "tool_use"

    def test_whole_it_is_the_same(self) -> None:
        whole = heard(Call(tool("Read", path="a"), usage=SPENT), "messages", streamed=False).json
        assert whole["content"][0]["input"] == {"path": "a"}
        assert (whole["stop_reason"], whole["usage"]["cache_creation_input_tokens"]) == ("tool_use", 20)

    def test_a_structured_answer_goes_to_the_tool_made_for_it_or_is_text(self) -> None:
        tools = [{"name": "StructuredOutput", "input_schema": SCHEMA}]
        with_tool = heard(Answer({"success": True}), "messages", streamed=False, tools=tools).json
        assert with_tool["content"][0]["input"] == {"success": True}
        without = heard(Answer({"success": True}), "messages", streamed=False).json
        assert json.loads(without["content"][0]["text"]) == {"success": True}

    def test_a_refusal(self) -> None:
        assert heard(Refuse(), "messages", streamed=False).json["stop_reason"] == "refusal"

    def test_results_of_tools_can_be_seen(self) -> None:
        result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "42"}]}
        said = [{"role": "user", "content": "hello"}, {"role": "user", "content": [result]}]
        with ModelServer([Script("hello", [Say("ok")])]) as server:
            send(server, PATHS["messages"], {"model": "m", "messages": said})
            assert server.played[0].exchange.results == ("42",)


class TestResponses:
    def test_text_comes_in_pieces_between_its_events(self) -> None:
        stream = events(Say(LONG, usage=SPENT), "responses")
        kinds = [one["type"] for one in stream]
        assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
        assert kinds[-2:] == ["response.output_item.done", "response.completed"]
        assert "".join(one["delta"] for one in stream if one["type"] == "response.output_text.delta") == LONG
        assert [one["sequence_number"] for one in stream] == list(range(len(stream)))
        usage = stream[-1]["response"]["usage"]
        assert (usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"]) == (170, 50)

    def test_tools_of_each_kind(self) -> None:
        tools = [
            {"type": "function", "name": "exec_command"},
            {"type": "custom", "name": "apply_patch"},
            {"type": "local_shell"},
            {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "spawn"}]},
        ]
        calls = (
            tool("exec_command", cmd="ls"),
            ToolCall("apply_patch", "*** Begin Patch"),
            tool("local_shell", command=["ls"]),
            tool("agents.spawn", task="t"),
        )
        items = heard(Call(*calls), "responses", streamed=False, tools=tools).json["output"]
        assert [item["type"] for item in items] == [
            "function_call",
            "custom_tool_call",
            "local_shell_call",
            "function_call",
        ]
        assert json.loads(items[0]["arguments"]) == {"cmd": "ls"}
        assert items[1]["input"] == "*** Begin Patch"
        assert items[2]["action"]["command"] == ["ls"]
        assert (items[3]["namespace"], items[3]["name"]) == ("agents", "spawn")

    def test_tools_that_are_offered_in_the_input_are_seen(self) -> None:
        offered = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]}
        given = [offered, {"role": "user", "content": "hello"}]
        with ModelServer([Script("hello", [Say("ok")])]) as server:
            send(server, PATHS["responses"], {"model": "m", "input": given})
            assert server.played[0].exchange.tools == {"exec": "custom"}

    def test_a_structured_answer_is_text(self) -> None:
        wanted = {"format": {"type": "json_schema", "schema": SCHEMA}}
        with ModelServer([Script(".", [Answer({"success": True})])]) as server:
            item = ask(server, "responses", text=wanted).json["output"][0]
            assert server.played[0].exchange.schema == SCHEMA
        assert json.loads(item["content"][0]["text"]) == {"success": True}

    def test_a_refusal_and_an_error_in_the_stream(self) -> None:
        assert events(Refuse("no"), "responses")[-2]["item"]["content"] == [{"type": "refusal", "refusal": "no"}]
        failed = events(Fail(429, "x", "later", "rate_limit_exceeded", in_stream=True), "responses")[-1]
        assert failed["type"] == "response.failed"
        assert failed["response"]["error"] == {"code": "rate_limit_exceeded", "message": "later"}


class TestChat:
    def test_text_comes_in_pieces(self) -> None:
        reply = heard(Say(LONG, usage=SPENT), "chat", streamed=True)
        deltas = [one["choices"][0]["delta"] for one in reply.events if one["choices"]]
        assert "".join(delta.get("content", "") for delta in deltas) == LONG
        assert reply.events[-2]["choices"][0]["finish_reason"] == "stop"
        assert reply.events[-1]["usage"]["prompt_tokens"] == 170
        assert reply.body.endswith(b"data: [DONE]\n\n")

    def test_several_tools_at_once(self) -> None:
        stream = events(Call(tool("read", path="a"), tool("bash", command="ls")), "chat")
        parts = [part for one in stream if one["choices"] for part in one["choices"][0]["delta"].get("tool_calls", ())]
        assert [part["function"]["name"] for part in parts if "id" in part] == ["read", "bash"]
        written = "".join(part["function"]["arguments"] for part in parts if part["index"] == 1)
        assert json.loads(written) == {"command": "ls"}
        whole = heard(Call(tool("read", path="a")), "chat", streamed=False).json["choices"][0]
        assert (whole["finish_reason"], len(whole["message"]["tool_calls"])) == ("tool_calls", 1)

    def test_a_refusal(self) -> None:
        choice = heard(Refuse("no"), "chat", streamed=False).json["choices"][0]
        assert (choice["finish_reason"], choice["message"]["refusal"]) == ("content_filter", "no")


@pytest.mark.parametrize("api", PATHS)
def test_an_error_in_the_stream_is_a_plain_one_for_a_client_that_wants_none(api: str) -> None:
    turn = Fail(529, "overloaded_error", "Overloaded", in_stream=True)
    assert heard(turn, api, streamed=False).status == 529
    streamed = heard(turn, api, streamed=True)
    assert (streamed.status, "Overloaded" in streamed.body.decode()) == (200, True)


def _written(stream: list[dict[str, Any]], index: int) -> Any:
    deltas = [one for one in stream if one["type"] == "content_block_delta" and one["index"] == index]
    return json.loads("".join(one["delta"]["partial_json"] for one in deltas))
