"""OpenAI's Chat Completions API, as OpenCode speaks it with a provider that is "OpenAI-compatible"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.modelserver.connection import Request
from tests.modelserver.exchange import Exchange, first_text, text_of
from tests.modelserver.script import Fail, ToolCall, Turn, Usage
from tests.modelserver.wire import Reply, Speech, arguments_of, data, encoded, pieces, speech

ANSWERING_TOOL = "StructuredOutput"
"""What OpenCode offers when its server was asked for a structured result."""


def read(request: Request) -> Exchange:
    body = request.json
    said = list(body.get("messages", ()))
    texts = _texts(said, "user")
    tools = {one.get("function", {}).get("name", ""): one.get("type", "") for one in body.get("tools") or ()}
    wanted = (body.get("response_format") or {}).get("json_schema") or {}
    return Exchange(
        api="chat",
        model=body.get("model", ""),
        is_streamed=bool(body.get("stream")),
        session=request.headers.get("x-session-affinity", ""),
        prompt=first_text(texts),
        system="\n".join(_texts(said, "system")),
        texts=tuple(texts),
        results=tuple(_texts(said, "tool")),
        tools=tools,
        schema=wanted.get("schema"),
        body=body,
    )


def _texts(messages: list[Mapping[str, Any]], role: str) -> list[str]:
    return [text for one in messages if one.get("role") == role for text in text_of(one.get("content"))]


def reply(exchange: Exchange, turn: Turn, number: int) -> Reply:
    if isinstance(turn, Fail):
        return Reply(events=[data(_described(turn))], body=error(turn))
    said = speech(turn, lambda value: ToolCall(ANSWERING_TOOL, value) if ANSWERING_TOOL in exchange.tools else None)
    common = {"id": f"chatcmpl-{number}", "created": 0, "model": exchange.model}
    usage = _usage(turn.usage)
    calls = [_call(call, f"call_{number}_{index}") for index, call in enumerate(said.calls)]
    text = {"refusal" if said.is_refusal else "content": said.text} if said.text else {}
    message = {"role": "assistant", "content": None, **text, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(said)}
    whole = {**common, "object": "chat.completion", "choices": [choice], "usage": usage}
    common["object"] = "chat.completion.chunk"
    chunks = [{**common, "choices": [{"index": 0, **one}]} for one in _deltas(said, calls)]
    counted = {**common, "choices": [], "usage": usage}
    return Reply(events=[*map(data, chunks), data(counted), b"data: [DONE]\n\n"], body=encoded(whole))


def _finish_reason(said: Speech) -> str:
    if said.is_refusal:
        return "content_filter"
    return "tool_calls" if said.calls else "stop"


def _call(call: ToolCall, name: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": call.name, "arguments": arguments_of(call)}}


def _deltas(said: Speech, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    for piece in pieces(said.text):
        yield {"delta": {"refusal" if said.is_refusal else "content": piece}, "finish_reason": None}
    for index, call in enumerate(calls):
        function = call["function"]
        begun = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"delta": {"tool_calls": [begun]}, "finish_reason": None}
        for piece in pieces(function["arguments"]):
            written = {"index": index, "function": {"arguments": piece}}
            yield {"delta": {"tool_calls": [written]}, "finish_reason": None}
    yield {"delta": {}, "finish_reason": _finish_reason(said)}


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": given,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens": usage.output,
        "total_tokens": given + usage.output,
    }


def _described(fail: Fail) -> dict[str, Any]:
    return {"error": {"message": fail.message, "type": fail.kind, "param": None, "code": fail.code}}


def error(fail: Fail) -> bytes:
    return encoded(_described(fail))
