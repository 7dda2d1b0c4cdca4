"""The real Claude Code, headless, in a project of its own with plugins of a test's choice and a scripted model.

stage = Stage(tmp_path, home)
plugin = stage.plugin("p", {"agents/worker.md": "---\\nname: worker\\n…"})
with ModelServer([Script(is_agent("I am the worker"), [Say("done")]), Script(is_main, […])]) as server:
    run = stage.run(server, "Begin", plugins=[plugin])
    assert run.told("SubagentStop")[0].input["agent_type"] == "p:worker"
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.modelserver import Exchange, ModelServer
from tests.modelserver.clients import Launch, claude, finished
from tests.plugin.recorder import Reply, Told, calls, hooks_of, install

_LETS_HOOKS_RUN = '{"disableAllHooks":false}'


def is_main(exchange: Exchange) -> bool:
    """The session itself: sub-agents have another header of the system prompt."""
    return not is_sub(exchange)


def is_sub(exchange: Exchange) -> bool:
    return "x-claude-code-agent-id" in exchange.body
