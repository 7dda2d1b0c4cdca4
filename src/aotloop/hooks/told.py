"""What a client tells a hook, as far as we look at it. Another client, or a newer one, may leave out any of it."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.hooks.answers import Client

PLUGIN = "aot-loop"
COORDINATOR = f"{PLUGIN}:coordinator"
ONLY_LOOKING = (f"{PLUGIN}:probe", f"{PLUGIN}:verifier")


class Told(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str = ""
    cwd: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    """`plugin:agent`. None: the session itself; empty: an agent of the client's own, such as the one that compacts."""
    background_tasks: list[dict[str, Any]] | None = None
    """Of the whole session; an agent in the background is in its own list when it stops."""
    last_assistant_message: str | None = None
    prompt: str = ""
    tool_name: str = ""
    tool_input: dict[str, Any] = {}
    turn_id: str | None = None
    """Only Codex tells one."""

    @property
    def client(self) -> Client:
        return "claude" if self.turn_id is None else "codex"

    def others_in_background(self) -> bool:
        """Agents that still work, of whatever kind. A shell is none: a server that was left running would never end."""
        return any(
            task.get("type") != "shell" and task.get("status", "running") == "running" and not self._is_self(task)
            for task in self.background_tasks or ()
        )

    def _is_self(self, task: dict[str, Any]) -> bool:
        return self.agent_id is not None and task.get("id") == self.agent_id
