"""The server: who gets which turn, what is written down, and that it ends."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any

import pytest

from tests.modelserver import Call, Exchange, Fail, ModelServer, Say, Script, Turn, Usage, silent, stalled, tool
from tests.modelserver.talking import PATHS, ask, begun, request, send
from tests.patience import PATIENCE

APIS = tuple(PATHS)


def said(text: str = "hi") -> list[Script]:
    return [Script(".", [Say(text)] * 20)]


class TestWhoGetsWhat:
    def test_a_script_is_chosen_by_the_first_user_text(self) -> None:
        scripts = [Script("^one", [Say("1")]), Script(re.compile("TWO", re.IGNORECASE), [Say("2")])]
        with ModelServer(scripts) as server:
            assert ask(server, "messages", "two of them").json["content"][0]["text"] == "2"
            assert ask(server, "messages", "one of them").json["content"][0]["text"] == "1"

    def test_or_by_a_function(self) -> None:
        def wants_tools(exchange: Exchange) -> bool:
            return "Bash" in exchange.tools

        with ModelServer([Script(wants_tools, [Say("with tools")]), *said("without")]) as server:
            tools = [{"name": "Bash", "input_schema": {}}]
            assert ask(server, "messages", tools=tools).json["content"][0]["text"] == "with tools"
            assert ask(server, "messages", "good-bye").json["content"][0]["text"] == "without"

    def test_turns_come_one_after_the_other_and_errors_are_turns(self) -> None:
        with ModelServer([Script(".", [Fail(500, "api_error", "no"), Say("first"), Say("second")])]) as server:
            assert [ask(server, "messages").status for _ in range(3)] == [500, 200, 200]
            assert [type(record.turn) for record in server.played] == [Fail, Say, Say]

    def test_each_conversation_has_its_own_place_in_the_script(self) -> None:
        def first_then_second(number: int) -> list[str]:
            body = request("messages", f"task {number}")
            heard = [send(server, PATHS["messages"], body, session=f"s{number}").json for _ in range(2)]
            return [one["content"][0]["text"] for one in heard]

        with ModelServer([Script("task", [Say("1"), Say("2")])]) as server, ThreadPoolExecutor(8) as pool:
            assert list(pool.map(first_then_second, range(8))) == [["1", "2"]] * 8

    @pytest.mark.parametrize("api", APIS)
    def test_the_same_words_in_another_session_are_another_conversation(self, api: str) -> None:
        with ModelServer([Script(".", [Say("1"), Say("2")])]) as server:
            for session in ("a", "b", "a", "b"):
                send(server, PATHS[api], request(api), session=session)
            assert server.lost == []

    def test_a_script_can_be_for_a_few_conversations_only(self) -> None:
        with ModelServer([Script("do", [Say("in vain")], plays=1), Script("do", [Say("done")])]) as server:
            answers = [ask(server, "messages", f"do {number}").json["content"][0]["text"] for number in range(3)]
        assert answers == ["in vain", "done", "done"]

    def test_a_turn_can_depend_on_the_request(self) -> None:
        def echo(exchange: Exchange) -> Turn:
            return Say(exchange.prompt.upper())

        with ModelServer([Script(".", [echo])]) as server:
            assert ask(server, "messages", "shout").json["content"][0]["text"] == "SHOUT"

    def test_where_no_script_knows_what_to_say_the_client_is_told_and_it_is_written_down(self) -> None:
        with ModelServer([Script("known", [])]) as server:
            assert ask(server, "messages", "unknown to all").status == 403
            assert "no script is for 'strange'" in ask(server, "messages", "strange").json["error"]["message"]
        assert server.lost == ["'known' has no turn 1 for 'unknown to all'", "no script is for 'strange'"]


class TestSideTasks:
    @pytest.mark.parametrize(
        ("api", "more"),
        [
            ("messages", {"system": "Generate a concise, sentence-case title (3-7 words) that captures the topic."}),
            ("messages", {"max_tokens": 1}),
            (
                "messages",
                {"system": [{"type": "text", "text": "Analyze if this message has isNewTopic. Answer in JSON"}]},
            ),
            ("responses", {"instructions": "You are a title generator. You output ONLY a thread title."}),
        ],
    )
    def test_they_are_answered_and_take_no_turn(self, api: str, more: dict[str, Any]) -> None:
        with ModelServer([Script(".", [])]) as server:
            heard = ask(server, api, **more)
        assert (heard.status, server.played, server.lost) == (200, [], [])
        assert b"A scripted session" in heard.body

    def test_work_has_tools_whatever_it_is_about(self) -> None:
        with ModelServer(said()) as server:
            tools = [{"name": "Bash", "input_schema": {}}]
            ask(server, "messages", "Write a title generator", tools=tools)
            assert len(server.played) == 1

    def test_other_things_clients_ask_for_are_answered(self) -> None:
        with ModelServer([]) as server:
            counted = send(server, "/v1/messages/count_tokens?beta=true", request("messages"))
            assert counted.json["input_tokens"] > 0
            assert [one["id"] for one in send(server, "/v1/models", b"", "GET").json["data"]] == ["scripted"]
            assert send(server, "/", b"", "HEAD").status == 200
            assert send(server, "/unheard/of", b"", "GET").status == 404
            assert send(server, PATHS["chat"], b"no json").status == 400

    def test_what_is_asked_of_somebody_else_shows_when_the_server_is_the_proxy(self) -> None:
        with ModelServer([]) as server:
            assert send(server, "example.com:443", b"", "CONNECT").status == 404
            send(server, "/v1/models", b"", "GET")
            assert server.elsewhere == ["example.com:443"]


class TestWhatIsWrittenDown:
    def test_requests_with_headers_body_and_time(self) -> None:
        with ModelServer(said()) as server:
            before = time.monotonic()
            send(server, PATHS["messages"], request("messages", "remember"), session="s1")
            (one,) = server.requests
        after = time.monotonic()
        assert before <= one.at <= after
        assert (one.method, one.path, one.headers["x-claude-code-session-id"]) == ("POST", "/v1/messages", "s1")
        assert one.json["messages"][0]["content"] == "remember"

    @pytest.mark.parametrize("api", APIS)
    def test_tokens_by_model_of_what_was_sent_whole(self, api: str) -> None:
        spent = Usage(input=100, output=7, cache_read=50, cache_write=20)
        turns = [Say("a", usage=spent), Say("b", usage=spent), Fail(529, "overloaded_error", "no"), Say("c")]
        with ModelServer([Script(".", turns)]) as server:
            for model in ("big", "big", "big", "small"):
                ask(server, api, streamed=True, model=model)
        assert server.usage["big"] == Usage(input=200, output=14, cache_read=100, cache_write=40)
        assert server.usage["small"] == Usage()

    def test_a_record_says_what_the_request_got(self) -> None:
        with ModelServer([Script(".", [Call(tool("Read"))])]) as server:
            ask(server, "messages")
            (record,) = server.records
        assert (record.turn, record.is_aside) == (Call(tool("Read")), False)

    def test_what_is_not_the_users_is_not_taken_for_the_prompt(self) -> None:
        texts = [
            "<system-reminder>be good</system-reminder>",
            "<environment_context>here</environment_context>",
            "work",
        ]
        content = [{"type": "text", "text": text} for text in texts]
        with ModelServer(said()) as server:
            send(server, PATHS["messages"], {"model": "m", "messages": [{"role": "user", "content": content}]})
            assert server.played[0].exchange.prompt == "work"
            assert server.played[0].exchange.texts == tuple(texts)


class TestItsEnd:
    @pytest.mark.parametrize("turn", [Say("x", delivery=silent()), Say("x", delivery=stalled())])
    def test_it_ends_whatever_it_is_in_the_middle_of(self, turn: Say) -> None:
        def hang() -> None:
            with pytest.raises((OSError, HTTPException)):
                ask(server, "messages", streamed=True)

        with ModelServer([Script(".", [turn])]) as server:
            waiting = threading.Thread(target=hang)
            waiting.start()
            assert server.wait_for(1)
        waiting.join(PATIENCE)
        assert not waiting.is_alive()

    def test_waiting_for_a_request_that_does_not_come_has_an_end(self) -> None:
        with ModelServer(said()) as server:
            assert not server.wait_for(1, timeout=0.05)

    def test_a_fault_of_a_scripts_function_is_raised_by_the_with(self) -> None:
        def wrong(_: Exchange) -> Turn:
            raise LookupError("a mistake")

        def ask_in_vain() -> None:
            with ModelServer([Script(".", [wrong])]) as server, contextlib.suppress(OSError):
                ask(server, "messages")

        with pytest.raises(LookupError, match="a mistake"):
            ask_in_vain()

    def test_a_connection_is_kept_for_the_next_request(self) -> None:
        with (
            ModelServer(said()) as server,
            begun(server, PATHS["messages"], request("messages", streamed=True)) as (connection, response),
        ):
            response.read()
            connection.request("GET", "/v1/models")
            with connection.getresponse() as another:
                assert another.status == 200
