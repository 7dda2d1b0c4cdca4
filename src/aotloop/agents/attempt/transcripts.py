"""Readable transcripts: what any client printed becomes one list of steps, in the words of the agent.

Every backend keeps its output as lines of `transcript.jsonl`. Claude Code, Codex and clients of the Agent Client
Protocol print events as JSON; a command prints text. Nothing here trusts a line: a line that is no known event is
printed text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from aotloop.agents.claude.event_stream import part, parts, text
from aotloop.agents.openai.order import METER
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut

StepKind = Literal["says", "thinks", "calls", "returns", "prints", "error", "note"]
LONGEST_STEP = 4000


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of an attempt. Its text may have several lines, and cannot control a terminal."""

    kind: StepKind
    text: str
    at: float = 0.0
    """Seconds since the attempt began."""
    tool: str = ""
    """For `calls`, and where known for `returns`."""


class _Line(msgspec.Struct):
    at: float
    stream: str
    text: str


_LINES = msgspec.json.Decoder(_Line)
Told = Iterator[tuple[StepKind, str, str]]
"""Kind, tool, text."""


def steps_of(lines: Iterable[bytes]) -> list[Step]:
    """The lines of a transcript file, oldest first. Words that come in pieces are put together."""
    found: list[Step] = []
    for line in lines:
        try:
            printed = _LINES.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        for kind, tool, words in _told(printed):
            _add(found, Step(kind=kind, text=words, at=printed.at, tool=tool))
    readable = (msgspec.structs.replace(step, text=cut(plain(step.text), LONGEST_STEP)) for step in found)
    return [step for step in readable if step.text or step.tool]


def _add(found: list[Step], step: Step) -> None:
    """Lines of text belong together, and so do the pieces of a message that has not ended with a line."""
    last = found[-1] if found else None
    if last is None or last.kind != step.kind or last.tool or step.tool or len(last.text) >= LONGEST_STEP:
        found.append(step)
    elif step.kind in ("prints", "error"):
        found[-1] = msgspec.structs.replace(last, text=f"{last.text}\n{step.text}")
    elif step.kind in ("says", "thinks") and not last.text.endswith("\n"):
        found[-1] = msgspec.structs.replace(last, text=last.text + step.text)
    else:
        found.append(step)


def _told(printed: _Line) -> Told:
    if printed.text.startswith(METER):
        return
    if printed.stream == "note":
        yield "note", "", printed.text
        return
    event = _event(printed.text)
    if event is None:
        yield ("error" if printed.stream == "stderr" else "prints"), "", printed.text
        return
    yield from _reader(event)(event)


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(value, dict) and (isinstance(value.get("type"), str) or "jsonrpc" in value)
    return value if is_event else None


def _reader(event: dict[str, Any]) -> Callable[[dict[str, Any]], Told]:
    if "jsonrpc" in event:
        return _acp
    kind = event["type"]
    if kind in _CLAUDE:
        return _claude
    return _codex if kind.startswith(("item.", "turn.", "thread.")) or kind == "error" else _other


# --- Claude Code -------------------------------------------------------------------------------------------------

_CLAUDE = {"system", "assistant", "user", "result", "stream_event", "rate_limit_event"}


def _claude(event: dict[str, Any]) -> Told:
    match event["type"], event.get("subtype"):
        case "system", "init":
            yield "note", "", f"Claude Code {text(event.get('claude_code_version'))}, {text(event.get('model'))}"
        case "system", "api_retry":
            yield "error", "", f"{text(event.get('error')) or 'an error'} of the service; the client tries again"
        case "assistant" | "user", _:
            content = part(event, "message").get("content")
            for block in parts(content):
                yield from _block(event["type"], block)
        case "result", _:
            answer = event.get("structured_output") or event.get("result") or event.get("errors") or ""
            yield "note", "", f"ended, {text(event.get('subtype')) or 'without a reason'}: {_words(answer)}"


def _block(speaker: str, block: dict[str, Any]) -> Told:
    match block.get("type"):
        case "text" if speaker == "assistant":
            yield "says", "", f"{text(block.get('text'))}\n"
        case "thinking":
            yield "thinks", "", f"{text(block.get('thinking'))}\n"
        case "tool_use":
            yield "calls", text(block.get("name")) or "a tool", _arguments(block.get("input"))
        case "tool_result":
            yield ("error" if block.get("is_error") is True else "returns"), "", _content(block.get("content"))


# --- Codex -------------------------------------------------------------------------------------------------------


def _codex(event: dict[str, Any]) -> Told:
    kind, item = event["type"], part(event, "item")
    if kind == "error":
        yield "error", "", text(event.get("message"))
    elif kind == "turn.failed":
        yield "error", "", text(part(event, "error").get("message")) or "the turn failed"
    elif kind == "turn.completed":
        yield "note", "", "the turn is complete"
    elif kind in ("item.started", "item.completed"):
        yield from _item(item, is_over=kind == "item.completed")


def _item(item: dict[str, Any], *, is_over: bool) -> Told:
    match item.get("type"):
        case "agent_message" if is_over:
            yield "says", "", f"{text(item.get('text'))}\n"
        case "reasoning" if is_over:
            yield "thinks", "", f"{text(item.get('text'))}\n"
        case "error" if is_over:
            yield "error", "", text(item.get("message"))
        case "command_execution" if not is_over:
            yield "calls", "shell", text(item.get("command"))
        case "command_execution":
            code = item.get("exit_code")
            yield ("error" if code else "returns"), "shell", f"exit {code}\n{text(item.get('aggregated_output'))}"
        case "file_change" if is_over:
            changes = parts(item.get("changes"))
            yield (
                "calls",
                "edit",
                "\n".join(f"{text(change.get('kind'))} {text(change.get('path'))}" for change in changes),
            )
        case "mcp_tool_call" | "web_search" if not is_over:
            yield "calls", text(item.get("tool")) or str(item["type"]), text(item.get("query"))


# --- Agent Client Protocol ---------------------------------------------------------------------------------------


def _acp(event: dict[str, Any]) -> Told:
    """What our side says is not in the transcript."""
    if "error" in event:
        yield "error", "", text(part(event, "error").get("message")) or _words(event["error"])
        return
    update = part(event, "params", "update")
    match update.get("sessionUpdate"):
        case "agent_message_chunk":
            yield "says", "", text(part(update, "content").get("text"))
        case "agent_thought_chunk":
            yield "thinks", "", text(part(update, "content").get("text"))
        case "tool_call":
            tool = text(update.get("title")) or text(update.get("kind")) or "a tool"
            yield "calls", tool, _arguments(update.get("rawInput"))
        case "tool_call_update" if str(update.get("status")) in {"completed", "failed"}:
            texts = (text(part(block, "content").get("text")) for block in parts(update.get("content")))
            is_wrong = update.get("status") == "failed"
            yield ("error" if is_wrong else "returns"), text(update.get("title")), "\n".join(filter(None, texts))


def _other(event: dict[str, Any]) -> Told:
    """An event of a client that is not known here: its words, if it has any."""
    words = text(event.get("text")) or text(event.get("message")) or text(event.get("content"))
    yield ("says", "", f"{words}\n") if words else ("prints", "", json.dumps(event, ensure_ascii=False))


def _arguments(given: Any) -> str:
    """One line for each argument; a single one without its name."""
    if not isinstance(given, dict):
        return _words(given) if given else ""
    if len(given) == 1:
        return _words(next(iter(given.values())))
    return "\n".join(f"{name}: {_words(value)}" for name, value in given.items())


def _content(value: Any) -> str:
    return "\n".join(text(block.get("text")) for block in parts(value)) if isinstance(value, list) else _words(value)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
