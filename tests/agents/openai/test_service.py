"""Servers of others, byte by byte: what goes over the wire, and what is made of it."""

from __future__ import annotations

import gzip
import json
import shutil
import ssl
import subprocess
import zlib
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Tokens
from aotloop.agents.openai import service as service_module
from aotloop.agents.openai.chat import Conversation, Unfit
from aotloop.agents.openai.endpoint_errors import Unable, Unusable
from aotloop.agents.openai.order import Endpoint, Order, Trial
from aotloop.agents.openai.service import Service
from aotloop.agents.openai.workspace import Workspace
from aotloop.agents.openai.written_calls import written_calls
from tests.agents.openai.foreign_server import (
    Asked,
    ForeignServer,
    Reply,
    call,
    delta,
    http,
    says,
    sent,
    stream,
    streamed,
    usage,
)

FILE = "```a.py\nx = 'é—✓'\n```"
WELL = stream(*says(FILE))
BODY = streamed(*says(FILE))


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "_PAUSE", 0.0)


class Worker:
    """The agent of one attempt, without a process."""

    def __init__(
        self,
        folder: Path,
        url: str,
        tools: Any = "no",
        model: str | None = "m",
        silence: float = 60,
        most_turns: int = 5,
        trials: tuple[Trial, ...] = (),
    ) -> None:
        self.folder, self.lines, self.used = folder, list[str](), list[Tokens]()
        endpoint = Endpoint(base_url=url, model=model, tools=tools)
        self._order = Order(
            role="worker",
            prompt="Write a.py.",
            endpoint=endpoint,
            result_file="none",
            most_turns=most_turns,
            trials=trials,
        )
        self.service = Service(endpoint, "the-key", silence, self.lines.append, self._use)

    def _use(self, tokens: Tokens, cost: float | None) -> None:
        del cost
        self.used.append(tokens)

    def works(self) -> str:
        """What is in the file in the end. Raises what the conversation raises."""
        Conversation(self._order, self.service, Workspace(self.folder), self.lines.append).run()
        return (self.folder / "a.py").read_text()


def working(folder: Path, replies: Sequence[Reply], path: str = "/v1", **more: Any) -> tuple[str, ForeignServer]:
    with ForeignServer(replies) as server:
        return Worker(folder, server.url + path, **more).works(), server


def chunked(body: bytes, size: int) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    for at in range(0, len(body), size):
        piece = body[at : at + size]
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    yield b"0\r\n\r\n"


WHOLE = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": FILE}, "finish_reason": "stop"}],
    "usage": usage()["usage"],
}


@pytest.mark.parametrize(
    "reply",
    [
        list(chunked(BODY, 7)),
        sent(BODY, version="1.0"),
        sent(gzip.compress(BODY), "Content-Encoding: gzip"),
        sent(zlib.compress(BODY), "Content-Encoding: deflate"),
        http(200, BODY),
        http(200, WHOLE),
    ],
    ids=["chunked", "HTTP/1.0", "gzip", "deflate", "a wrong type", "not streamed"],
)
def test_a_reply_may_come_in_many_ways(tmp_path: Path, reply: Reply) -> None:
    made, server = working(tmp_path, [reply])
    assert made == "x = 'é—✓'\n"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "broken",
    [
        b"HTTP/1.1 200 OK\r\nContent-",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        sent(b""),
        sent(BODY[: len(BODY) // 3]),
        sent(BODY, "Content-Length: 40"),
        sent(gzip.compress(BODY)[:-20], "Content-Encoding: gzip"),
        stream(delta(content="no"), "data: {", delta("stop")),
        stream(delta(content="no"), {"error": {"message": "the runner has terminated"}}),
        http(503, {"error": {"code": 503, "message": "Loading model"}}),
    ],
    ids=["head", "other protocol", "empty", "cut", "short", "cut gzip", "garbled", "error", "loading"],
)
def test_what_breaks_is_asked_again_three_times_in_all(tmp_path: Path, broken: bytes) -> None:
    made, server = working(tmp_path, [broken, broken, WELL])
    assert made == "x = 'é—✓'\n"
    assert len(server.asked) == 3
    with ForeignServer([broken]) as server, pytest.raises(Unable) as unable:
        Worker(tmp_path, f"{server.url}/v1").works()
    assert unable.value.trouble.cause in {"outage", "overload"}
    assert len(server.asked) == 3


def test_what_was_said_before_a_break_is_counted_and_told_at_once(tmp_path: Path) -> None:
    with ForeignServer([stream(delta(content="x" * 700), done=False), WELL]) as server:
        worker = Worker(tmp_path, f"{server.url}/v1")
        worker.works()
    assert worker.service.tokens.output == 200 + 10
    assert worker.service.is_estimated
    assert worker.used[0].output == 200
    assert worker.used[-1] == worker.service.tokens


def test_silence_is_an_outage_and_is_not_asked_again_here(tmp_path: Path) -> None:
    with ForeignServer([lambda _: server.wait_until_closed()]) as server, pytest.raises(Unable) as unable:
        Worker(tmp_path, f"{server.url}/v1", silence=0.2).works()
    assert unable.value.trouble.cause == "outage"
    assert len(server.asked) == 1, "the run waits, and asks again"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_needs_no_path_and_may_have_too_much_of_it(tmp_path: Path, path: str) -> None:
    _, server = working(tmp_path, [WELL], path=path)
    assert server.asked[0].path == "/v1/chat/completions"


def test_another_path_is_kept(tmp_path: Path) -> None:
    _, server = working(tmp_path, [WELL], path="/openai/v2")
    assert server.asked[0].path == "/openai/v2/chat/completions"


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_is_followed(tmp_path: Path, status: int) -> None:
    _, server = working(tmp_path, [http(status, b"", "Location: /elsewhere"), WELL])
    assert (server.asked[1].path, server.asked[1].method) == ("/elsewhere", "POST")


def test_the_key_does_not_follow_to_another_server(tmp_path: Path) -> None:
    with ForeignServer([WELL]) as other, ForeignServer([http(307, b"", f"Location: {other.url}/v1")]) as server:
        Worker(tmp_path, f"{server.url}/v1").works()
    assert server.asked[0].headers["authorization"] == "Bearer the-key"
    assert "the-key" not in str(other.asked[0].headers)


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert working(tmp_path, [WELL])[0]


@pytest.mark.parametrize(
    "page",
    [http(200, "<html>Log in</html>"), http(200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"})],
)
def test_what_is_no_model_server_is_said_at_once(tmp_path: Path, page: bytes) -> None:
    with ForeignServer([page]) as server, pytest.raises(Unusable, match="no model server"):
        Worker(tmp_path, f"{server.url}/v1").works()
    assert len(server.asked) == 1


def test_a_server_that_answered_before_was_set_up_rightly(tmp_path: Path) -> None:
    called = stream(delta(tool_calls=[call("list", "{}")]), delta("tool_calls"))
    with (
        ForeignServer([called, http(404, {"error": "model 'm' not found"})]) as server,
        pytest.raises(Unable) as unable,
    ):
        Worker(tmp_path, f"{server.url}/v1", tools="auto").works()
    assert unable.value.trouble.cause == "outage"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make a certificate")
def test_a_certificate_of_ones_own_is_trusted_if_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *made]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    with ForeignServer([WELL], tls=tls) as server:
        with pytest.raises(Unusable, match="SSL_CERT_FILE"):
            Worker(tmp_path, f"{server.url}/v1").works()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert Worker(tmp_path, f"{server.url}/v1").works()


@pytest.mark.parametrize(
    ("listed", "model"),
    [
        ({"data": [{"id": "nomic-embed-text"}, {"id": "qwen"}]}, "qwen"),
        ({"models": [{"name": "gemma"}]}, "gemma"),
        ([{"id": "phi"}], "phi"),
        ({"data": []}, None),
        ({"data": None}, None),
        ({}, None),
        ([5], None),
        ({"data": [{"id": "bge-embed"}]}, None),
    ],
)
def test_a_model_is_chosen_from_any_list(tmp_path: Path, listed: Any, model: str | None) -> None:
    with ForeignServer([http(200, listed), WELL]) as server:
        worker = Worker(tmp_path, f"{server.url}/v1", model=None)
        if model is None:
            with pytest.raises(Unusable, match="name one: model"):
                worker.works()
        else:
            worker.works()
            assert server.asked[1].body["model"] == model


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_without_end_is_left(tmp_path: Path, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "_MOST_EVENTS", 100)
    event = streamed(delta(content=""), done=False) * 100

    def endless() -> Iterator[bytes]:
        yield f"HTTP/1.1 {status} X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".encode()
        yield from repeat(event)

    with ForeignServer([lambda _: endless()]) as server, pytest.raises(Unfit if status == 200 else Unable):  # type: ignore[list-item,return-value]
        Worker(tmp_path, f"{server.url}/v1").works()


def test_what_a_service_takes_for_a_reply_is_the_cost_unless_there_is_a_price(tmp_path: Path) -> None:
    counts = {**usage()["usage"], "cost": 0.25}
    turns = [delta(content=""), delta("stop"), {**usage(), "usage": counts}]
    with ForeignServer([stream(delta(tool_calls=[call("list", "{}")]), *turns), stream(*says(FILE))]) as server:
        worker = Worker(tmp_path, f"{server.url}/v1", tools="auto")
        worker.works()
    assert worker.service.cost == 0.25


# --- what is refused in part ---------------------------------------------------------------------------------------

NO_TOOLS = [
    (400, {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools", "type": "api_error"}}),
    (400, {"object": "error", "message": '"auto" tool choice requires --enable-auto-tool-choice', "code": 400}),
    (500, {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}),
    (400, {"error": 'Error rendering prompt with jinja template: "Unknown test: sequence".'}),
    (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}),
]


@pytest.mark.parametrize(("status", "body"), NO_TOOLS)
def test_a_server_without_tools_is_asked_in_one_go(tmp_path: Path, status: int, body: Any) -> None:
    _, server = working(tmp_path, [http(status, body), WELL], tools="auto")
    assert ["tools" in asked.body for asked in server.asked] == [True, False]


def test_an_overflow_that_speaks_of_tools_is_an_overflow(tmp_path: Path) -> None:
    body = {"error": {"message": "the prompt with its tools exceeds the available context size"}}
    with ForeignServer([http(400, body)]) as server, pytest.raises(Unable) as unable:
        Worker(tmp_path, f"{server.url}/v1", tools="auto").works()
    assert unable.value.trouble.cause == "too_long"


@pytest.mark.parametrize(
    "message",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 5461. This model's maximum …",
        "context length is 4096 tokens. You requested 5500 tokens (39 in the messages, 5461 in the completion).",
    ],
)
def test_an_answer_longer_than_the_server_allows_is_left_to_the_server(tmp_path: Path, message: str) -> None:
    body = {"error": {"message": message}}
    _, server = working(tmp_path, [http(400, body), http(400, body), WELL])
    assert not {"max_tokens", "max_completion_tokens"} & {*server.asked[-1].body}


# --- tools ---------------------------------------------------------------------------------------------------------


def test_files_count_that_came_in_one_go_after_tools_had_been_used(tmp_path: Path) -> None:
    wrote = stream(delta(tool_calls=[call("write", '{"path": "b.py", "text": ""}')]), delta("tool_calls"))
    fails = http(500, {"error": {"code": 500, "message": "Failed to parse tool call arguments as JSON"}})
    assert working(tmp_path, [wrote, fails, WELL], tools="auto")[0]
    assert (tmp_path / "b.py").exists()


@pytest.mark.parametrize("arguments", ['{"path": "a.py", "te', "", "[]", "null", "path=a.py"])
def test_arguments_that_are_no_object_are_told_and_not_sent_back(tmp_path: Path, arguments: str) -> None:
    """llama.cpp, vLLM and Ollama refuse the rest of a conversation that has such a call in it."""
    called = stream(delta(tool_calls=[call("write", arguments, id="")]), delta("stop"))
    right = stream(delta(tool_calls=[call("write", {"path": "a.py", "text": "1"})]), delta("stop"))
    _, server = working(tmp_path, [called, right, stream(*says("Done."))], tools="auto")
    _, _, assistant, result = server.asked[1].body["messages"]
    (sent_back,) = assistant["tool_calls"]
    assert sent_back["function"] == {"name": "write", "arguments": "{}"}
    assert assistant["content"] == ""
    assert result["tool_call_id"] == sent_back["id"]
    assert len(sent_back["id"]) == 9, "as Mistral wants it"
    assert result["content"].startswith("refused: ")


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>\n{"name": "write", "arguments": {"path": "a.py", "text": "1"}}\n</tool_call>',
        '```json\n{"name": "write", "arguments": {"path": "a.py", "text": "1"}}\n```',
        '[TOOL_CALLS] [{"name": "write", "arguments": "{\\"path\\": \\"a.py\\", \\"text\\": \\"1\\"}"}]',
        '<|python_tag|>{"type": "function", "name": "write", "parameters": {"path": "a.py", "text": "1"}}',
        '{"type": "function", "function": {"name": "write", "arguments": {"path": "a.py", "text": "1"}}}',
        '{"tool": "write", "args": {"path": "a.py", "text": "1"}}',
        '[TOOL_CALLS]write[ARGS]{"path": "a.py", "text": "1"}',
        '<function=write>{"path": "a.py", "text": "1"}</function>',
        "<tool_call>\n<function=write>\n<parameter=path>\na.py\n</parameter>\n<parameter=text>\n1\n</parameter>\n</function>",
        '<invoke name="write"><parameter name="path">a.py</parameter><parameter name="text">1</parameter></invoke>',
        "<tool_call>write\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value><arg_key>text</arg_key><arg_value>1</arg_value>",
        '<|tool▁call▁begin|>function<|tool▁sep|>write\n```json\n{"path": "a.py", "text": "1"}\n```',
        '<|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>{"path": "a.py", "text": "1"}',
        '<|channel|>commentary to=functions.write <|constrain|>json<|message|>{"path": "a.py", "text": "1"}<|call|>',
    ],
)
def test_calls_that_were_written_as_text_are_calls(tmp_path: Path, written: str) -> None:
    made, server = working(tmp_path, [stream(*says(written)), stream(*says("Done."))], tools="auto")
    assert made == "1"
    assert server.asked[1].body["messages"][-1] == {"role": "user", "content": "write: a.py has 1 lines now"}


def test_a_file_of_json_between_tags_is_a_file_and_no_other_call() -> None:
    text = '{"name": "read", "arguments": {"path": "a.py"}}\n'
    called = "<function=write>\n<parameter=path>\nb.json\n</parameter>\n<parameter=text>\n" + text + "</parameter>"
    (call,) = written_calls(called, ["read", "write"])
    assert json.loads(call.arguments) == {"path": "b.json", "text": text.removesuffix("\n")}


def test_other_json_is_no_call(tmp_path: Path) -> None:
    said = '```a.py\nX = {"name": "format", "arguments": {}}\n```'
    made, server = working(tmp_path, [stream(*says(said))], tools="auto")
    assert (made, len(server.asked)) == ('X = {"name": "format", "arguments": {}}\n', 1)


def test_long_results_of_one_turn_share_the_context(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word\n" * 9000)
    reads = [call("read", {"path": "long.txt", "line": 1 + 2000 * n}, index=n, id=f"c{n}") for n in range(8)]
    wrote = stream(delta(tool_calls=[call("write", {"path": "a.py", "text": "1"})]), delta("tool_calls"))
    turns = [stream(delta(tool_calls=reads), delta("tool_calls")), wrote, stream(*says("Done."))]
    made, server = working(tmp_path, turns, tools="auto")
    told = [one["content"] for one in server.asked[1].body["messages"] if one["role"] == "tool"]
    assert made == "1"
    assert all(1000 < len(one) < 6000 for one in told[:4])
    assert sum(map(len, told)) < 16_384 * 3.5


def test_a_server_that_repeats_the_key_brings_it_into_no_file(tmp_path: Path) -> None:
    wrote = stream(delta(tool_calls=[call("write", {"path": "b.py", "text": "the-key"})]), delta("tool_calls"))
    again = stream(delta(tool_calls=[call("write", {"path": "a.py", "text": "the-key"})]), delta("tool_calls"))
    made, server = working(tmp_path, [wrote, again, stream(*says("Wrote the-key."))], tools="auto")
    assert (tmp_path / "b.py").read_text() == "[key]"
    assert "the-key" not in str([asked.body for asked in server.asked]) + made


# --- what servers and models do --------------------------------------------------------------------------------------

WROTE = stream(delta(tool_calls=[call("write", {"path": "a.py", "text": "1"})]), delta("tool_calls"), usage())
DONE = stream(*says("Done."))


def reads_on(asked: Asked) -> bytes:
    """A model that reads six parts of a long file, and then writes."""
    turn = sum(message["role"] == "assistant" for message in asked.body["messages"])
    reads = call("read", {"path": "long.txt", "line": 1 + 100 * turn})
    return stream(delta(tool_calls=[reads]), delta("tool_calls")) if turn < 6 else WROTE if turn == 6 else DONE


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 7000 tokens.",
        "request (7000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "the prompt is too long",
    ],
)
def test_a_server_that_reads_less_than_is_configured_gets_less(tmp_path: Path, words: str) -> None:
    (tmp_path / "long.txt").write_text("word word word\n" * 2000)
    refusal = http(400, {"error": {"message": words, "type": "invalid_request_error"}})
    made, server = working(
        tmp_path,
        [lambda asked: refusal if len(json.dumps(asked.body)) > 4 * 4096 else reads_on(asked)],
        tools="auto",
        most_turns=9,
    )
    assert made == "1"
    assert len(server.asked) < 14


def test_a_prompt_that_no_context_holds_is_too_long(tmp_path: Path) -> None:
    refusal = http(400, {"error": {"message": "context length exceeded: maximum context length is 16384 tokens"}})
    with ForeignServer([refusal]) as server, pytest.raises(Unable) as unable:
        Worker(tmp_path, f"{server.url}/v1", tools="auto").works()
    assert unable.value.trouble.cause == "too_long"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda body: body["messages"][0]["role"] == "system", "System role not supported"),
        (lambda body: body.get("stream"), "Your organization must be verified to stream this model."),
    ],
)
def test_a_server_gets_what_it_can_take(tmp_path: Path, refused: Any, words: str) -> None:
    def reply(asked: Asked) -> bytes:
        if refused(asked.body):
            return http(400, {"error": {"message": words, "type": "invalid_request_error"}})
        is_first = asked.body["messages"][-1]["role"] == "user"
        said = (
            {"content": "", "tool_calls": [call("write", {"path": "a.py", "text": "1"})]}
            if is_first
            else {"content": "Done."}
        )
        return http(200, {"choices": [{"message": {"role": "assistant", **said}, "finish_reason": "stop"}]})

    made, server = working(tmp_path, [reply], tools="auto")
    assert made == "1"
    assert "Write a.py." in server.asked[-1].body["messages"][-3]["content"]


@pytest.mark.parametrize("ending", ["error", "abort"])
def test_an_answer_that_ends_with_a_failure_of_the_server_is_no_answer(tmp_path: Path, ending: str) -> None:
    half = stream(delta(content="```a.py\nhalf\n```"), delta(ending))
    made, server = working(tmp_path, [half, WELL])
    assert (made, len(server.asked)) == ("x = 'é—✓'\n", 2)


def test_of_a_flood_of_calls_only_the_first_are_done(tmp_path: Path) -> None:
    writes = [call("write", {"path": f"{n}.py", "text": "1"}, index=n, id=f"c{n}") for n in range(500)]
    flood = stream(delta(tool_calls=[call("write", {"path": "a.py", "text": "1"}, index=500, id="x"), *writes]))
    with pytest.raises(Unable):
        working(tmp_path, [flood, http(400, {"error": {"message": "enough"}})], tools="auto")
    assert len([*tmp_path.iterdir()]) == 20


def test_a_model_that_does_the_same_again_and_again_is_ended(tmp_path: Path) -> None:
    same = stream(delta(tool_calls=[call("list", {"path": "."})]), delta("tool_calls"))
    with ForeignServer([same]) as server, pytest.raises(Unfit, match="the same again and again: list"):
        Worker(tmp_path, f"{server.url}/v1", tools="auto", most_turns=40).works()
    assert len(server.asked) == 9


@pytest.mark.parametrize("is_finished", [True, False])
def test_work_that_passes_its_check_is_not_lost_with_the_connection(tmp_path: Path, *, is_finished: bool) -> None:
    trial = Trial(name="written", command=f"test -e {tmp_path}/{'a' if is_finished else 'b'}.py")
    limited = http(429, {"error": {"message": "Rate limit reached"}})
    with ForeignServer([WROTE, limited]) as server:
        worker = Worker(tmp_path, f"{server.url}/v1", tools="auto", trials=(trial,))
        if is_finished:
            assert worker.works() == "1"
            assert any("Rate limit reached" in line for line in worker.lines)
        else:
            with pytest.raises(Unable, match="Rate limit"):
                worker.works()


def test_a_server_that_counts_nothing_is_not_free(tmp_path: Path) -> None:
    with ForeignServer([stream(delta(content=FILE), delta("stop"), usage(0, 0))]) as server:
        worker = Worker(tmp_path, f"{server.url}/v1")
        worker.works()
    assert worker.service.is_estimated
    assert worker.service.tokens.output > 0
