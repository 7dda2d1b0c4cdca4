"""Anthropic's Messages API, as Claude Code speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.modelserver.connection import Request
from tests.modelserver.exchange import Exchange, first_text, text_of
from tests.modelserver.script import Fail, ToolCall, Turn, Usage
from tests.modelserver.wire import Reply, Speech, arguments_of, encoded, event, pieces, speech

ANSWERING_TOOL = "StructuredOutput"
"""What Claude Code offers when it was asked for a structured result."""


def read(request: Request) -> Exchange:
    body = request.json
    said = [one for one in body.get("messages", ()) if one.get("role") == "user"]
    texts = [text for one in said for text in text_of(one.get("content"))]
    parts = [part for one in said if isinstance(one.get("content"), list) for part in one["content"]]
    tools = {one.get("name", ""): one for one in body.get("tools") or ()}
    answering = tools.get(ANSWERING_TOOL, {}).get("input_schema")
    wanted = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return Exchange(
        api="messages",
        model=body.get("model", ""),
        is_streamed=bool(body.get("stream")),
        session=request.headers.get("x-claude-code-session-id") or _user(body),
        prompt=first_text(texts),
        system="\n".join(text_of(body.get("system"))),
        texts=tuple(texts),
        results=tuple("\n".join(text_of(one.get("content"))) for one in parts if one.get("type") == "tool_result"),
        tools=dict.fromkeys(tools, "function"),
        schema=answering or wanted,
        body=body,
    )


def _user(body: Mapping[str, Any]) -> str:
    return str((body.get("metadata") or {}).get("user_id", ""))


def reply(exchange: Exchange, turn: Turn, number: int) -> Reply:
    if isinstance(turn, Fail):
        return Reply(events=[_event_of(turn)], body=error(turn))
    said = speech(turn, lambda value: ToolCall(ANSWERING_TOOL, value) if ANSWERING_TOOL in exchange.tools else None)
    blocks = list(_blocks(said, number))
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": blocks,
        "stop_reason": _stop_reason(said),
        "stop_sequence": None,
        "usage": _usage(turn.usage),
    }
    return Reply(events=list(_events(message, blocks)), body=encoded(message), ping=event({"type": "ping"}))


def _stop_reason(said: Speech) -> str:
    if said.is_refusal:
        return "refusal"
    return "tool_use" if said.calls else "end_turn"


def _blocks(said: Speech, number: int) -> Iterator[dict[str, Any]]:
    if said.text:
        yield {"type": "text", "text": said.text}
    for index, call in enumerate(said.calls):
        arguments = json.loads(arguments_of(call))
        yield {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": call.name, "input": arguments}


def _events(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> Iterator[bytes]:
    usage = {**message["usage"], "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": usage}
    yield event({"type": "message_start", "message": begun})
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: dict[str, Any] = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(written)]
        yield event({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in deltas:
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event({"type": "message_delta", "delta": ended, "usage": message["usage"]})
    yield event({"type": "message_stop"})


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
    }


def _described(fail: Fail) -> dict[str, Any]:
    return {"type": "error", "error": {"type": fail.kind, "message": fail.message}, "request_id": "req_scripted"}


def _event_of(fail: Fail) -> bytes:
    return event(_described(fail))


def error(fail: Fail) -> bytes:
    return encoded(_described(fail))
