"""What Codex prints is told in short lines, and no event is too strange."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.codex.codex_events import CodexEvents
from aotloop.agents.contract import Tokens

KEYS = st.sampled_from(
    [
        "type",
        "item",
        "message",
        "text",
        "error",
        "usage",
        "input_tokens",
        "cached_input_tokens",
        "changes",
        "kind",
        "path",
        "command",
        "exit_code",
    ]
)
WORDS = st.sampled_from(
    [
        "error",
        "item.started",
        "item.completed",
        "turn.completed",
        "turn.failed",
        "agent_message",
        "command_execution",
        "file_change",
        "reasoning",
        "mcp_tool_call",
        "Reconnecting",
        "429",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


def heard(*events: Any) -> tuple[CodexEvents, list[str]]:
    lines: list[str] = []
    codex = CodexEvents(lines.append, patience=1)
    for event in events:
        codex.hear("stdout", json.dumps(event).encode() + b"\n")
    return codex, lines


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=8))
def test_no_event_is_too_strange(events: list[Any]) -> None:
    heard(*events)


@pytest.mark.parametrize(
    ("kind", "item", "lines"),
    [
        ("item.started", {"type": "command_execution", "command": "ls"}, ["$ ls"]),
        ("item.completed", {"type": "command_execution", "command": "ls", "exit_code": 0}, []),
        ("item.completed", {"type": "command_execution", "command": "ls", "exit_code": 2}, ["exit 2"]),
        ("item.completed", {"type": "file_change", "changes": [{"path": "a", "kind": "add"}]}, ["add a"]),
        ("item.completed", {"type": "agent_message", "text": "one\ntwo"}, ["one", "two"]),
        ("item.completed", {"type": "error", "message": "careful"}, ["careful"]),
        ("item.started", {"type": "web_search", "query": "news"}, ["web_search news"]),
        ("item.completed", {"type": "todo_list", "items": []}, []),
    ],
)
def test_what_it_does_is_told(kind: str, item: dict[str, Any], lines: list[str]) -> None:
    assert heard({"type": kind, "item": item})[1] == lines


def test_its_input_contains_what_the_cache_had() -> None:
    usage = {"input_tokens": 10, "cached_input_tokens": 4, "cache_write_input_tokens": 1, "output_tokens": 3}
    codex, _ = heard({"type": "turn.completed", "usage": usage})
    assert codex.tokens == Tokens(input=5, output=3, cache_read=4, cache_write=1)


def test_what_it_tried_again_and_does_not_explain_is_an_outage() -> None:
    failed = {"type": "turn.failed", "error": {"message": "routing discovery failed"}}
    retried = {"type": "error", "message": "Reconnecting... 1/3 (routing discovery failed)"}
    for events, cause in (([failed], None), ([retried, failed], "outage")):
        met = heard(*events)[0].trouble
        assert met is not None
        assert met.cause == cause
