"""The real Codex, headless, in a repository of its own, with a hooks.json that tells a recorder, and a scripted model.

Hooks have to be trusted by a person before they run; here that is waived for the one run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from tests.modelserver import ModelServer
from tests.modelserver.clients import codex, finished
from tests.plugin.recorder import Recorder
from tests.plugin.runs import Run, a_repository

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Interrupt",
    "Stop",
)
UNTRUSTED_TOO = "--dangerously-bypass-hook-trust"


class CodexStage:
    def __init__(self, folder: Path, home: Path) -> None:
        self._home = home
        self.project = a_repository(folder / "project")
        self.recorder = Recorder(folder / "recorder")

    def hook(self, where: Literal["user", "project"]) -> None:
        place = {"user": self._home / "codex", "project": self.project / ".codex"}[where]
        place.mkdir(parents=True, exist_ok=True)
        (place / "hooks.json").write_text(json.dumps(self.recorder.hooks(EVENTS)))

    def run(self, server: ModelServer, prompt: str, *options: str) -> Run:
        before = len(self.recorder.calls)
        done = finished(codex(server, self._home, *options), self.project, prompt)
        return Run(code=done.code, events=done.events, errors=done.errors, calls=self.recorder.calls[before:])
