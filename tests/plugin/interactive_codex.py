"""The real Codex as a person has it: on a terminal (tmux), with a scripted model. A person types and permits.

Its first picture shows a composer that takes no keys: what is typed there goes to the questions of the start, or is
lost. So these questions are answered in its settings, and the person types when the line below the composer names the
model. Codex takes keys that come fast for a paste, in which Enter is a new line; a setting turns that off. Enter is
pressed until the composer is empty. A question for permission is counted when it is answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Self

from tests.modelserver import ModelServer, Say, Script
from tests.modelserver.clients import codex
from tests.patience import until
from tests.plugin.codex_stage import CodexStage
from tests.plugin.interactive import Terminal

TITLE = Script("concise, single-line task title", [Say("a title")])
"""Codex asks for the title of a conversation."""
_ONLY_HEADLESS = ("exec", "--json", "-", "--dangerously-bypass-approvals-and-sandbox")
_AS_TYPED = ("-c", "disable_paste_burst=true", "-c", "check_for_update_on_startup=false")
_ANSWERED = """
[projects.{project}]
trust_level = "trusted"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"""
"""What it would ask at its start: whether it trusts the folder, and whether it may use its newest model."""
_READY = re.compile(r"^\u203a Ask Codex to do anything$.*^ +GPT-5\.5 .* · ", re.MULTILINE | re.DOTALL)
_ASKED = re.compile(r"(?:Would you like to|Do you want to|Allow)[^\n]*\?.*1\. Yes", re.DOTALL)
_TICKS = 40
"""Looks at the screen between two presses of a key."""


class InteractiveCodex:
    def __init__(self, stage: CodexStage, home: Path, server: ModelServer, *options: str) -> None:
        launch = codex(server, home, *_AS_TYPED, *options)
        settings = home / "codex" / "config.toml"
        known = settings.read_text() if settings.exists() else ""
        if "model_migrations" not in known:
            settings.write_text(known + _ANSWERED.format(project=json.dumps(str(stage.project))))
        place = home / f"codex-terminal-{len(list(home.glob('codex-terminal-*')))}"
        place.mkdir()
        command = [str(word) for word in launch.command if word not in _ONLY_HEADLESS]
        self.terminal = Terminal(place, command, stage.project, {**launch.env, "TERM": "xterm-256color"})
        self.permitted = 0
        self._server = server
        until(lambda: _READY.search(self.terminal.screen), lambda: self.terminal.screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.close()

    def type(self, text: str) -> None:
        """Types it into the composer, sees that it stands there, and presses Enter until it does not any more."""
        self.terminal.send(text)
        wanted = _without_spaces(text)
        until(lambda: self._composer() == wanted, lambda: self.terminal.screen)
        self._press_until("Enter", lambda: self._composer() != wanted)

    def interrupt(self) -> None:
        """Esc ends the turn that is under way."""
        self._press_until("Escape", lambda: "Conversation interrupted" in self.terminal.history)

    def until(self, condition: Callable[[], Any]) -> None:
        """Waits, and permits what is asked for meanwhile."""

        def look() -> bool:
            if (asked := self._asked()) is not None:
                self.permitted += 1
                self._press_until("y", lambda: self._asked() != asked)
            return bool(condition())

        until(look, lambda: f"{self.terminal.history}\nthe scripted model was not ready for: {self._server.lost}")

    def reads(self, text: str) -> None:
        self.until(lambda: text in self.terminal.history)

    def _press_until(self, key: str, has_worked: Callable[[], bool]) -> None:
        ticks = count()

        def pressed() -> bool:
            if has_worked():
                return True
            if next(ticks) % _TICKS == 0:
                self.terminal.press(key)
            return False

        until(pressed, lambda: self.terminal.screen)

    def _asked(self) -> str | None:
        found = _ASKED.search(self.terminal.screen)
        return found[0] if found else None

    def _composer(self) -> str:
        """What stands in it: from the last mark at the beginning of a line to the empty line below."""
        last = re.split("^\u203a", self.terminal.screen, flags=re.MULTILINE)[-1]
        return _without_spaces(re.split(r"\n\s*\n", last)[0])


def _without_spaces(text: str) -> str:
    """A long line is folded on the screen."""
    return "".join(text.split())
