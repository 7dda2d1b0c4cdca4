"""The real Codex as a person has it: on a terminal (tmux), with a scripted model. A person types and permits.

Its first picture shows a composer that takes no keys: what is typed there goes to the questions of the start, or is
lost. So these questions are answered in its settings, and the person types when the line below the composer names the
model. Codex takes keys that come fast for a paste, in which Enter is a new line; a setting turns that off.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.modelserver import ModelServer, Say, Script
from tests.modelserver.clients import codex
from tests.plugin.codex_stage import CodexStage
from tests.plugin.interactive import Person, Terminal, without_spaces

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


class InteractiveCodex(Person):
    def __init__(self, stage: CodexStage, home: Path, server: ModelServer, *options: str) -> None:
        launch = codex(server, home, *_AS_TYPED, *options)
        settings = home / "codex" / "config.toml"
        known = settings.read_text() if settings.exists() else ""
        if "model_migrations" not in known:
            settings.write_text(known + _ANSWERED.format(project=json.dumps(str(stage.project))))
        stage.hook("user")
        place = home / f"codex-terminal-{len(list(home.glob('codex-terminal-*')))}"
        place.mkdir()
        command = [str(word) for word in launch.command if word not in _ONLY_HEADLESS]
        terminal = Terminal(place, command, stage.project, {**launch.env, "TERM": "xterm-256color"})
        super().__init__(terminal, stage.recorder, server)
        self.until(lambda: _READY.search(self.terminal.screen))

    def interrupt(self) -> None:
        """Esc ends the turn that is under way. Until the screen says so, a command is refused."""
        self.press("Escape", lambda: bool(self._recorder.told("Interrupt")))
        self.until(lambda: "Conversation interrupted" in self.terminal.history)

    def until_compacted(self) -> None:
        """The hook is told before the composer belongs to the next turn."""
        super().until_compacted()
        self.until(lambda: "Context compacted" in self.terminal.history)

    def _shows(self, text: str) -> bool:
        """In the composer: from the last mark at the beginning of a line to the empty line below."""
        last = re.split("^\u203a", self.terminal.screen, flags=re.MULTILINE)[-1]
        return without_spaces(re.split(r"\n\s*\n", last)[0]) == text
