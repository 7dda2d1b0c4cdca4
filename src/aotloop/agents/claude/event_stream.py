"""The event stream: bytes in chunks of any size become events, one a line, in bounded memory for any input.

`json` reads them, not msgspec: JavaScript prints halves of characters if it has cut a text in the middle of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aotloop.process.output import Lines
from aotloop.text.shorten import one_line

Event = dict[str, Any]

_MOST = 1024 * 1024
"""The most characters of one line: a longer line (with a whole file, for example) is left out."""


class Events:
    def __init__(self) -> None:
        self._lines = Lines(_MOST, drops_long=True)

    def add(self, chunk: bytes) -> Iterator[Event | str]:
        """Events, and lines that are no events."""
        return _events(self._lines.add(chunk))

    def end(self) -> Iterator[Event | str]:
        """Reads the last line, which has no newline at its end."""
        return _events(self._lines.end())


def _events(lines: Iterable[str]) -> Iterator[Event | str]:
    for line in lines:
        if line:
            event = _as_event(line)
            yield line if event is None else event


def is_cut(line: str) -> bool:
    """Whether the line is only the beginning of an event."""
    return line.startswith("{") and _decoded(line) is None


def _as_event(line: str) -> Event | None:
    """The type may stand anywhere: the order of the keys is not fixed."""
    value = _decoded(line) if line.startswith("{") else None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _decoded(text: str) -> Any:
    """None if the line is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def part(value: Any, *path: str) -> dict[str, Any]:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def parts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """None for values that are no amount: NaN, infinity, a number with hundreds of digits."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def count(value: Any) -> int:
    return int(number(value) or 0)


_LONGEST = 400
_ANSWERING = "StructuredOutput"
_OBJECTS = ("file_path", "notebook_path", "command", "pattern", "path", "description", "skill", "url", "query")
"""The arguments of a tool that show its object; the first that is present is shown."""


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
        case "assistant" | "user" as speaker, _:
            for block in parts(part(event, "message").get("content")):
                yield from _block(speaker, block, cwd)
        case "result", _:
            yield _result(event)


def _block(speaker: str, block: dict[str, Any], cwd: Path) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text" and speaker == "assistant" and (words := _short(block.get("text"))):
        yield words
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
    answer = event.get("structured_output") or event.get("result") or event.get("errors") or ""
    return f"ended, {text(event.get('subtype')) or 'without a reason'}: {_short(answer)}"


def _short(value: Any) -> str:
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(words, _LONGEST)
