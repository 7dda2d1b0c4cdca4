"""The payload of a hook: the fields that we read. Another or a newer client may leave out any of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from aotloop.hooks.answers import Client

PLUGIN = "aot-loop"
COORDINATOR = f"{PLUGIN}:coordinator"
ONLY_LOOKING = (f"{PLUGIN}:probe", f"{PLUGIN}:verifier")


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str = ""
    cwd: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    """`plugin:agent`. None: the session itself; empty: an agent of the client's own, such as the one that compacts."""
    background_tasks: list[dict[str, Any]] | None = None
    """Tasks of the whole session. An agent in the background is in its own list when it stops."""
    last_assistant_message: str | None = None
    prompt: str = ""
    tool_name: str = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: str = ""
    tool_response: Any = None
    source: str = ""
    """Of a session's start: `startup`, `resume`, `compact`, …"""
    turn_id: str | None = None
    """Only Codex sends one."""

    plugin_folder: str = ""
    """Where the plugin is, if the client does not say so in the plugin's texts."""

    @property
    def client(self) -> Client:
        return "claude" if self.turn_id is None else "codex"

    def others_in_background(self) -> bool:
        """Running agents of any kind. A shell does not count: a server left running would never end."""
        return any(task.get("type") != "shell" for task in self._others())

    def ours_in_background(self) -> bool:
        """Running agents of this plugin."""
        return any(str(task.get("agent_type", "")).startswith(f"{PLUGIN}:") for task in self._others())

    def _others(self) -> Iterator[dict[str, Any]]:
        for task in self.background_tasks or ():
            is_self = self.agent_id is not None and task.get("id") == self.agent_id
            if task.get("status", "running") == "running" and not is_self:
                yield task


MOST_IN_VAIN = 6
"""Claude Code accepts eight blocks in a row, Codex any number. Ours end before that, and say why."""

_SETTING = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


def most_in_vain() -> int:
    """The cap for the client of this process."""
    return most_in_vain_with(os.environ.get(_SETTING, ""))


def most_in_vain_with(cap: str) -> int:
    """Never more than the client accepts: the client would end the session without a message of ours."""
    return min(MOST_IN_VAIN, int(cap)) if cap.isdecimal() and int(cap) > 0 else MOST_IN_VAIN
