"""Output of agents and clients: it is understood or refused; no number, path or text of it gets lost."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.acp.updates import Updates
from aotloop.agents.answers.answer_schema import WorkerResult
from aotloop.agents.answers.extraction import NotAResult, find_answer
from aotloop.agents.answers.validation import read_result
from aotloop.agents.claude.event_stream import Events, number, told
from aotloop.agents.claude.event_summary import Story, tokens_of
from aotloop.agents.codex.codex_events import CodexEvents
from aotloop.agents.contract import Tokens
from aotloop.agents.roles import ROLES
from aotloop.process.transport import JsonLines
from aotloop.statefile.yaml import emitter
from faults.fuzzing.scratch import a_folder

_MOST_TOKENS = 2**63


@lru_cache(maxsize=1)
def _root() -> Path:
    root = a_folder()
    (root / "out").symlink_to("/")
    return root


def answer(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for role in ROLES:
        for found in (text, _found(role, text)):
            if found is not None:
                _read(role, found)


def _found(role: Any, text: str) -> str | None:
    try:
        return find_answer(role, text)
    except NotAResult as error:
        assert str(error)
        return None


def _read(role: Any, text: str) -> None:
    try:
        reading = read_result(role, text, _root())
    except NotAResult as error:
        assert str(error)
        assert len(str(error)) < 1000
        return
    plain = msgspec.json.encode(reading)
    assert b"\\u001b" not in plain, "an escape sequence"
    assert "\x1b" not in emitter.block({"x": msgspec.to_builtins(reading, str_keys=True)}, 0)
    result = reading.result
    if isinstance(result, WorkerResult):
        for path in result.artifacts:
            inside = (_root() / path).resolve()
            assert inside.is_relative_to(_root().resolve()), path
            assert not path.startswith(("/", ".git/")), path
            assert ".." not in path.split("/"), path


def json_lines(data: bytes) -> None:
    """However it is cut, the same comes out."""
    whole = list(JsonLines().add(data + b"\n"))
    step = max(1, len(data) // 7)
    lines, cut = JsonLines(), []
    for start in range(0, len(data), step):
        cut += list(lines.add(data[start : start + step]))
    cut += list(lines.add(b"\n"))
    assert repr(cut) == repr(whole)  # NaN is not equal to itself


def codex_events(data: bytes) -> None:
    said: list[str] = []
    events = CodexEvents(said.append, 1.0)
    step = max(1, len(data) // 3)
    for start in range(0, len(data), step):
        events.hear("stdout", data[start : start + step])
    events.hear("stdout", b"\n")
    _check_words(said)
    _check_tokens(events.tokens)
    if events.trouble is not None:
        _check_wait(events.trouble.retry_after)


def acp_updates(data: bytes) -> None:
    said: list[str] = []
    updates = Updates(said.append)
    for one in JsonLines().add(data + b"\n"):
        if isinstance(one, dict):
            updates.take(one)
        else:
            updates.stray(one)
    updates.end()
    updates.message.encode()
    _check_words(said)
    _check_money(updates.cost_usd)


def claude_events(data: bytes) -> None:
    events, story = Events(), Story()
    said: list[str] = []
    for one in (*events.add(data), *events.end()):
        if isinstance(one, dict):
            story.add(one)
            said += told(one, _root())
    _check_tokens(story.tokens)
    _check_wait(story.retry_after)
    if story.result is not None:
        _check_tokens(tokens_of(story.result))
        _check_money(number(story.result.get("total_cost_usd")))
    for line in said:
        assert "\n" not in line


def _check_words(said: list[str]) -> None:
    for line in said:
        assert line.isprintable() or all(one.isprintable() or one in "\u200c\u200d" for one in line), line
        assert len(line) <= 600


def _check_tokens(tokens: Tokens | None) -> None:
    if tokens is not None:
        for name in tokens.__struct_fields__:
            assert 0 <= getattr(tokens, name) < _MOST_TOKENS, tokens


def _check_money(usd: float | None) -> None:
    assert usd is None or (math.isfinite(usd) and usd >= 0), usd


def _check_wait(seconds: float | None) -> None:
    assert seconds is None or (math.isfinite(seconds) and seconds >= 0), seconds
