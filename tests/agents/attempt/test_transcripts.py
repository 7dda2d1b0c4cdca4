"""Transcripts of every kind of client become the same readable steps."""

from __future__ import annotations

import json
from typing import Any

from aotloop.agents.attempt.transcripts import steps_of


def steps(*texts: Any, stream: str = "stdout") -> list[tuple[str, str, str]]:
    lines = [text if isinstance(text, str) else json.dumps(text) for text in texts]
    entries = [json.dumps({"at": 1.0, "stream": stream, "text": line}).encode() for line in lines]
    return [(step.kind, step.tool, step.text) for step in steps_of(entries)]


def test_claude_code() -> None:
    content = [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]
    result = {"type": "tool_result", "content": [{"type": "text", "text": "a.txt"}]}
    assert steps(
        {"type": "assistant", "message": {"content": content}},
        {"type": "stream_event", "event": {"delta": "noise"}},
        {"type": "user", "message": {"content": [result]}},
    ) == [("says", "", "I look."), ("calls", "Bash", "ls"), ("returns", "", "a.txt")]


def test_codex() -> None:
    command = {"type": "command_execution", "command": "ls", "exit_code": 2, "aggregated_output": "no"}
    assert steps(
        {"type": "item.started", "item": command},
        {"type": "item.completed", "item": command},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "done"}},
    ) == [("calls", "shell", "ls"), ("error", "shell", "exit 2\nno"), ("says", "", "done")]


def test_pieces_of_a_message_over_the_agent_client_protocol_are_put_together() -> None:
    def update(**more: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": "session/update", "params": {"update": more}}

    assert steps(
        update(sessionUpdate="agent_message_chunk", content={"text": "I "}),
        update(sessionUpdate="agent_message_chunk", content={"text": "begin"}),
        update(sessionUpdate="tool_call", title="edit", rawInput={"path": "a"}),
    ) == [("says", "", "I begin"), ("calls", "edit", "a")]


def test_a_command_and_hostile_lines() -> None:
    assert steps("one", "\x1b]0;owned\x07two", '{"type":') == [("prints", "", 'one\ntwo\n{"type":')]
    assert steps_of([b"", b"{", b"[" * 100_000, b"\xff"]) == []
    assert steps("warning", stream="stderr") == [("error", "", "warning")]
