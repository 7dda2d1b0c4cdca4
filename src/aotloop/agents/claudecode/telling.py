"""Events in a few words each, for a person who watches: what is said, which tool is used on what, what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aotloop.agents.claudecode.events import Event
from aotloop.agents.claudecode.looking import count, number, part, parts, text
from aotloop.agents.wording import one_line

_LONGEST = 400
_ANSWERING = "StructuredOutput"
_OBJECTS = ("file_path", "notebook_path", "command", "pattern", "path", "description", "skill", "url", "query")
"""Of the arguments of a tool, the first of these is what it is about."""


def told(event: Event, cwd: Path) -> Iterator[str]:
    match event["type"], event.get("subtype"):
        case "system", "init":
            yield f"Claude Code {text(event.get('claude_code_version'))}, {text(event.get('model'))}"
        case "system", "api_retry":
            yield _retry(event)
        case "rate_limit_event", _:
            limit = part(event, "rate_limit_info")
            if limit.get("status") == "rejected":
                yield f"the limit {text(limit.get('rateLimitType'))} is reached"
        case "assistant" | "user" as who, _:
            for block in parts(part(event, "message").get("content")):
                yield from _block(who, block, cwd)
        case "result", _:
            yield _result(event)


def _block(who: str, block: dict[str, Any], cwd: Path) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text" and who == "assistant" and (said := _short(block.get("text"))):
        yield said
    elif kind == "tool_use":
        yield _use(text(block.get("name")), part(block, "input"), cwd)
    elif kind == "tool_result" and block.get("is_error") is True:
        yield f"failed: {_short(block.get('content'))}"


def _use(name: str, arguments: dict[str, Any], cwd: Path) -> str:
    if name == _ANSWERING:
        return f"answers {_short(arguments)}"
    about = next((text(arguments[key]) for key in _OBJECTS if text(arguments.get(key))), "")
    return one_line(f"{name} {about.removeprefix(f'{cwd}/')}", _LONGEST)


def _retry(event: Event) -> str:
    wait = (number(event.get("retry_delay_ms")) or 0) / 1000
    status = f" ({event['error_status']})" if count(event.get("error_status")) else ""
    turn = f"{count(event.get('attempt'))} of {count(event.get('max_retries'))}"
    return f"{text(event.get('error')) or 'an error'}{status}: tries again in {wait:.1f} s, {turn}"


def _result(event: Event) -> str:
    said = event.get("structured_output") or event.get("result") or event.get("errors") or ""
    return f"ended, {text(event.get('subtype')) or 'somehow'}: {_short(said)}"


def _short(value: Any) -> str:
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(words, _LONGEST)
