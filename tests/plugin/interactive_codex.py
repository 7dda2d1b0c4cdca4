"""The real Codex as a person has it: on a terminal (tmux), with a scripted model. A person types and permits.

A question for permission is counted when it is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.modelserver import ModelServer
from tests.modelserver.clients import codex
from tests.patience import until
from tests.plugin.codex_stage import CodexStage
from tests.plugin.interactive import Terminal

_ONLY_HEADLESS = ("exec", "--json", "-", "--dangerously-bypass-approvals-and-sandbox")
_ASKED = re.compile(r"(?:Would you like to|Allow)[^\n]*\?.*1\. Yes", re.DOTALL)
_READY = "Ask Codex to do anything"
_AT_START = {"Trust this folder?": "Enter", "Use existing model": "2"}
"""What it asks before it is ready, and the key that answers it."""


class InteractiveCodex:
    def __init__(self, stage: CodexStage, home: Path, server: ModelServer, *options: str) -> None:
        launch = codex(server, home, *options)
        place = home / "codex-terminal"
        place.mkdir()
        command = [str(word) for word in launch.command if word not in _ONLY_HEADLESS]
        self.terminal = Terminal(place, command, stage.project, {**launch.env, "TERM": "xterm-256color"})
        self.permitted = 0
        self._server = server
        until(lambda: not self._answers_at_start() and _READY in self.terminal.screen, lambda: self.terminal.screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.close()

    def _answers_at_start(self) -> bool:
        """Whether it asks something of the beginning, which may come after the first prompt was typed."""
        screen = self.terminal.screen
        key = next((key for words, key in _AT_START.items() if words in screen), None)
        if key is not None:
            self.terminal.press(key)
        return key is not None

    def type(self, text: str) -> None:
        self.terminal.type(text)

    def until(self, condition: Callable[[], Any]) -> None:
        """Waits, and permits what is asked for meanwhile."""

        def look() -> bool:
            self._answers_at_start()
            screen = self.terminal.screen
            if _ASKED.search(screen) is not None:
                self.permitted += 1
                self.terminal.press("y")
                until(lambda: self.terminal.screen != screen, lambda: self.terminal.screen)
            return bool(condition())

        until(look, lambda: f"{self.terminal.history}\nthe scripted model was not ready for: {self._server.lost}")

    def reads(self, text: str) -> None:
        self.until(lambda: text in self.terminal.history)
