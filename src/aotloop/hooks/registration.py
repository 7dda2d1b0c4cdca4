"""What a client's hooks.json has to say so that our hooks are called, and only when they may have something to say."""

from __future__ import annotations

from typing import Any

from aotloop.hooks.answers import Client
from aotloop.hooks.told import COORDINATOR

SECONDS = 10
_WRITING = "Write|Edit|MultiEdit|NotebookEdit|Bash"
_MATCHERS: dict[Client, dict[str, str | None]] = {
    "claude": {
        "SubagentStop": f"^{COORDINATOR}$",
        "Stop": None,
        "UserPromptSubmit": None,
        "SessionStart": None,
        "PreCompact": None,
        "PreToolUse": _WRITING,
    },
    "codex": {
        "Stop": None,
        "UserPromptSubmit": None,
        "SessionStart": None,
        "PreToolUse": None,
    },
}
"""Codex has no agents with a type of their own, so the session itself coordinates there; it compacts without asking."""


def hooks_for(client: Client, plugin: str) -> dict[str, Any]:
    """`plugin`: the folder of the plugin, or what the client puts in its place."""
    entries = {}
    for event, matcher in _MATCHERS[client].items():
        handler = {"type": "command", "command": _command(client, plugin, event), "timeout": SECONDS}
        entries[event] = [{**({} if matcher is None else {"matcher": matcher}), "hooks": [handler]}]
    return {"description": "Steers the session that entered the loop, and no other.", "hooks": entries}


def _command(client: Client, plugin: str, event: str) -> str:
    words = f'python3 -I -S "{plugin}/hooks/aot_hook.py" {event}'
    return words if client == "claude" else f"{words} {client}"
