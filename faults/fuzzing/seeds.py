"""Seeds: golden files, real answers and payloads, and the findings of earlier fuzzing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.hooks.situations import SESSION
from tests.loops import a_loop, as_file, atom

from aotloop.core.model import AtomCheck
from faults.fuzzing.variants import variants

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
CASES = ROOT / "tests" / "faults" / "cases"

_WORKER = {
    "success": True,
    "bindings_delta": {"summary": "did it", "artifacts": ["src/a.py"]},
    "artifacts": [],
    "reason": "",
}
_PARTS = {
    "reason": "two things",
    "children": [{"description": "left", "depends_on": [], "name": "l"}, {"description": "right"}],
}
_PLAN = {
    "goal": "It works", "background_intent": "why", "deliverables": "what", "definition_of_done": "how",
    "checklist": [{"item": "tests", "type": "command", "value": "make test"}], "protect": ["tests/**"],
    "atoms": [{"name": "a", "description": "do a", "depends_on": [], "touches": ["src/**"], "estimate": 5}],
}  # fmt: skip
_ANSWERS: tuple[dict[str, Any], ...] = (
    _WORKER,
    {**_WORKER, "success": False, "reason": "no", "proposal": _PARTS},
    {"feasible": True, "findings": "it can be done", "cost_estimate": 3.5},
    {"passed": False, "evidence": "seen", "failures": ["one"]},
    {"scores": [{"criterion": "clear", "score": 7, "evidence": "line 3"}]},
    {"questions": [{"question": "Which?", "choices": ["a", "b"]}], "plan": None},
    {"questions": [], "plan": _PLAN},
)
_CODEX = (
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}},
    {"type": "item.completed", "item": {"type": "file_change", "changes": [{"kind": "add", "path": "a"}]}},
    {"type": "error", "message": "Reconnecting... 1/5 (429 Too Many Requests, try again in 3 s)"},
    {"type": "item.completed", "item": {"type": "agent_message", "text": json.dumps(_WORKER)}},
    {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 5, "output_tokens": 3}},
    {"type": "turn.failed", "error": {"message": "stream disconnected"}},
)
_ACP = (
    {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "hello\n"}},
    {"sessionUpdate": "tool_call", "title": "ls"},
    {"sessionUpdate": "tool_call_update", "status": "completed", "title": "ls", "rawInput": {"command": "ls"}},
    {"sessionUpdate": "usage_update", "cost": {"currency": "USD", "amount": 0.25}},
)
_CLAUDE = (
    {"type": "system", "subtype": "init", "claude_code_version": "2.0.0"},
    {"type": "system", "subtype": "api_retry", "attempt": 2, "retry_delay_ms": 8000, "error_status": 529},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1900000000}},
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "stream_event", "event": {"usage": {"input_tokens": 4, "output_tokens": 2}}, "session_id": "s"},
    {
        "type": "result",
        "subtype": "success",
        "result": "x",
        "total_cost_usd": 0.5,
        "num_turns": 2,
        "usage": {"input_tokens": 3},
    },
)
_PAYLOADS: tuple[dict[str, Any], ...] = (
    {"agent_type": "aot-loop:coordinator", "agent_id": "a1", "background_tasks": [{"id": "b", "type": "shell"}]},
    {"prompt": "/aot-loop:enter-recursion take-over"},
    {"prompt": "$aot-loop:source-command-enter-recursion accept 0123456789ab", "turn_id": "t"},
    {"tool_name": "Edit", "tool_input": {"file_path": "tests/a.py", "old_string": "a", "new_string": "b"}},
    {"tool_name": "Bash", "tool_input": {"command": "sed -i s/a/b/ .claude/aot-loop-state.md && echo > tests/x"}},
    {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch\n*** Update File: .env\n*** End Patch"}},
)
_TASK = {"id": 1, "title": "t", "status": "pending", "dependencies": [2], "subtasks": []}
_PLANS: tuple[dict[str, Any], ...] = (
    {"project": "p", "userStories": [{"id": "US-1", "title": "t", "priority": 1, "passes": False}]},
    {"master": {"tasks": [_TASK, {"id": 2, "title": "u", "subtasks": [{"id": 1, "title": "v"}]}]}},
)
_TOML = b"""agent = "scripted"
setup = "make deps"
copy = [".env"]
timeouts = {total = "2h"}
[agents.scripted]
argv = ["my-agent", "{prompt}"]
pass_env = ["MY_KEY"]
[roles.judge]
votes = 3
"""
_COMMANDS = (
    b"echo a > .claude/aot-loop-state.md",
    b'cat x | tee -a aot-loop-state.md; rm -f "$(echo aot-loop-state.md)"',
    b"sed -i 's/a/b/' aot-loop-state.md <<'EOF'\nx\nEOF\n",
    b"cp a aot-loop-state.md && git add -A || (mv b c)",
)


def _lines(some: tuple[dict[str, Any], ...]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in some)


def _loops() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(GOLDEN.glob("*.md")))
    check = AtomCheck(type="command", value="make test")
    atoms = atom("A1", check=check, run="make", timeout="5m"), atom("A2", "A1", or_group="w", touches=("a/**",))
    yield as_file(a_loop(*atoms))


def _phases() -> list[bytes]:
    return [path.read_bytes() for path in sorted(GOLDEN.glob("*.json"))]


def of(target: str) -> Iterator[bytes]:
    """Seeds, then the cases that were found."""
    yield from _SEEDS[target]()
    yield from (path.read_bytes() for path in cases(target))


def cases(target: str) -> list[Path]:
    folder = CASES / target
    return sorted(folder.iterdir()) if folder.is_dir() else []


def surprising(target: str) -> Iterator[bytes]:
    """Each seed of JSON with each of its values replaced, one at a time, by an unexpected value."""
    for one in _OBJECTS.get(target, ()):
        yield from variants(one)


def _payloads() -> Iterator[bytes]:
    for one in _PAYLOADS:
        yield json.dumps({"session_id": SESSION, "cwd": "/", **one}).encode()


def _plans() -> Iterator[bytes]:
    yield b"# Plan\n\n- [ ] one\n  - [x] inner\n- [ ] two (depends on: one)\n"
    yield from (json.dumps(one).encode() for one in _PLANS)


_SEEDS: dict[str, Any] = {
    "state_file": _loops,
    "state_file_changed": _loops,
    "phase_file": _phases,
    "strict_json": _phases,
    "config": lambda: iter([_TOML]),
    "plan": _plans,
    "answer": lambda: (json.dumps(one).encode() for one in _ANSWERS),
    "json_lines": lambda: iter([_lines(_CODEX), b'{"a": "\\ud800"}\nnot json\n{"b":', b"\n\n{}\r\n"]),
    "codex_events": lambda: iter([_lines(_CODEX), *(_lines((one,)) for one in _CODEX)]),
    "acp_updates": lambda: iter([_lines(_ACP)]),
    "claude_events": lambda: iter([_lines(_CLAUDE)]),
    "hook_payload": _payloads,
    "hook_shim": _payloads,
    "shell_writes": lambda: iter(_COMMANDS),
}
_PHASES = tuple(json.loads(data) for data in _phases())
_OBJECTS: dict[str, tuple[dict[str, Any], ...]] = {
    "phase_file": _PHASES,
    "strict_json": _PHASES,
    "plan": _PLANS,
    "answer": _ANSWERS,
    "json_lines": _CODEX,
    "codex_events": _CODEX,
    "acp_updates": _ACP,
    "claude_events": _CLAUDE,
    "hook_payload": _PAYLOADS,
    "hook_shim": _PAYLOADS,
}
