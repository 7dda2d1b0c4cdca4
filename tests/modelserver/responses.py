"""OpenAI's Responses API, as Codex speaks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.modelserver.connection import Request
from tests.modelserver.exchange import Exchange, first_text, text_of
from tests.modelserver.script import Fail, ToolCall, Turn, Usage
from tests.modelserver.wire import Reply, Speech, arguments_of, encoded, event, pieces, speech

_RESULTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}


def read(request: Request) -> Exchange:
    body = request.json
    given = body.get("input", ())
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    texts = _texts(items, "user")
    offered = [*(body.get("tools") or ()), *(tool for one in items for tool in one.get("tools") or ())]
    return Exchange(
        api="responses",
        model=body.get("model", ""),
        is_streamed=bool(body.get("stream")),
        session=request.headers.get("thread-id") or str(body.get("prompt_cache_key") or ""),
        prompt=first_text(texts),
        system="\n".join([str(body.get("instructions") or ""), *_texts(items, "developer")]),
        texts=tuple(texts),
        results=tuple("\n".join(_result(one)) for one in items if one.get("type") in _RESULTS),
        tools=dict(_tools(offered)),
        schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        body=body,
    )


def _texts(items: Iterable[Mapping[str, Any]], role: str) -> list[str]:
    return [text for one in items if one.get("role") == role for text in text_of(one.get("content"))]


def _tools(offered: Iterable[Mapping[str, Any]], space: str = "") -> Iterator[tuple[str, str]]:
    """Those of a namespace have its name and a dot before their own; those without a name have that of their type."""
    for one in offered:
        kind = str(one.get("type", ""))
        if kind == "namespace":
            yield from _tools(one.get("tools", ()), f"{one.get('name', '')}.")
        else:
            yield space + str(one.get("name", kind)), kind


def _result(item: Mapping[str, Any]) -> list[str]:
    return text_of(item.get("output"))


def reply(exchange: Exchange, turn: Turn, number: int) -> Reply:
    response: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": exchange.model,
        "output": [],
        "status": "in_progress",
        "error": None,
        "usage": None,
    }
    if isinstance(turn, Fail):
        failed = {**response, "status": "failed", "error": {"code": turn.code or turn.kind, "message": turn.message}}
        return Reply(
            events=list(_numbered([_begun(response), {"type": "response.failed", "response": failed}])),
            body=error(turn),
        )
    said = speech(turn, lambda _: None)
    items = list(_items(said, exchange.tools, number))
    ended = {**response, "status": "completed", "output": items, "usage": _usage(turn.usage)}
    return Reply(events=list(_numbered(_events(response, ended, items))), body=encoded(ended))


def _items(said: Speech, tools: Mapping[str, str], number: int) -> Iterator[dict[str, Any]]:
    if said.text:
        part: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
        if said.is_refusal:
            part = {"type": "refusal", "refusal": said.text}
        yield {"type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed", "content": [part]}
    for index, call in enumerate(said.calls):
        yield _call(call, tools.get(call.name, ""), f"{number}_{index}")


def _call(call: ToolCall, kind: str, name: str) -> dict[str, Any]:
    space, _, own = call.name.rpartition(".")
    named = {"name": own, "namespace": space} if space else {"name": own}
    common = {"id": f"fc_{name}", "call_id": f"call_{name}", "status": "completed"}
    if kind == "local_shell" and not isinstance(call.arguments, str):
        return {"type": "local_shell_call", **common, "action": {"type": "exec", "env": {}, **call.arguments}}
    if isinstance(call.arguments, str):
        return {"type": "custom_tool_call", **common, **named, "input": call.arguments}
    return {"type": "function_call", **common, **named, "arguments": arguments_of(call)}


def _begun(response: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "response.created", "response": response}


def _events(
    begun: Mapping[str, Any], ended: Mapping[str, Any], items: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    yield _begun(begun)
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        yield {"type": "response.output_item.added", "output_index": index, "item": _unwritten(item)}
        for step in _writing(item):
            yield {**step, **place}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": ended}


def _unwritten(item: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {"content": [], "arguments": "", "input": ""}
    return {**item, "status": "in_progress", **{key: empty[key] for key in empty if key in item}}


def _writing(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match item["type"]:
        case "message":
            yield from _writing_part(item["content"][0])
        case "function_call":
            for piece in pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"]}
        case "custom_tool_call":
            for piece in pieces(item["input"]):
                yield {"type": "response.custom_tool_call_input.delta", "delta": piece}
            yield {"type": "response.custom_tool_call_input.done", "input": item["input"]}


def _writing_part(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind, key = ("output_text", "text") if part["type"] == "output_text" else ("refusal", "refusal")
    yield {"type": "response.content_part.added", "content_index": 0, "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield {"type": f"response.{kind}.delta", "content_index": 0, "delta": piece}
    yield {"type": f"response.{kind}.done", "content_index": 0, key: part[key]}
    yield {"type": "response.content_part.done", "content_index": 0, "part": part}


def _numbered(events: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> Iterator[bytes]:
    for number, one in enumerate(events):
        yield event({**one, "sequence_number": number})


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + usage.output,
    }


def error(fail: Fail) -> bytes:
    return encoded({"error": {"message": fail.message, "type": fail.kind, "param": None, "code": fail.code}})
