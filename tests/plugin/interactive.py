"""The real clients as a person has them: on a terminal (tmux), with a scripted model. A person types and permits.

with InteractiveSession(stage, home, server, mode="default") as person:
    person.type("/aot-loop:enter-recursion")
    person.reads("it is completed")
assert person.permitted == 5

What happens is known from what the client tells its hooks: what was typed and taken, what was asked and permitted,
what was said at the end of a turn. The screen shows only that the client takes keys, and that a text is complete.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest

from tests.modelserver import ModelServer
from tests.modelserver.clients import claude
from tests.patience import until
from tests.plugin.recorder import Recorder, permitted
from tests.plugin.stage import Stage

TMUX = shutil.which("tmux")
needs_tmux = pytest.mark.skipif(
    TMUX is None, reason="not installed: tmux; `make test-clients` installs it where it can"
)
_AGAIN = 40
"""Looks at the client between two presses of a key: in its first moments it can lose one."""
_ANEW = 400
"""Looks at the screen before a text is typed anew."""
_READY = "manual mode|accept edits|bypass permissions|shortcuts"


class Terminal:
    """A program in a window of tmux, which has a server of its own."""

    def __init__(self, folder: Path, command: Sequence[str | Path], cwd: Path, env: dict[str, str]) -> None:
        self._socket = str(folder / "tmux")
        self._env = env
        self._run("new-session", "-d", "-x", "180", "-y", "50", "-c", str(cwd), shlex.join(map(str, command)))
        self.process = int(self._run("display-message", "-p", "#{pane_pid}"))

    @property
    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    @property
    def history(self) -> str:
        return self._run("capture-pane", "-p", "-S", "-2000")

    def send(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def press(self, key: str) -> None:
        self._run("send-keys", key)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("kill-server")

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [str(TMUX), "-S", self._socket, "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            env=self._env,
            check=True,
        )
        return done.stdout


class Person:
    """At a client whose hooks tell `recorder`. To every question of the client, the answer is yes."""

    def __init__(self, terminal: Terminal, recorder: Recorder, server: ModelServer) -> None:
        self.terminal = terminal
        self._recorder = recorder
        self._server = server
        recorder.reply(permitted())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.close()

    @property
    def permitted(self) -> int:
        return len(self._recorder.told("PermissionRequest"))

    def type(self, text: str) -> None:
        """Types it, sees that it is complete, and presses Enter until the client says that it took it."""
        looks = count()

        def typed() -> bool:
            look = next(looks)
            if look and look % _ANEW == 0:
                self.terminal.press("C-u")
            if look % _ANEW == 0:
                self.terminal.send(text)
            return self._shows(without_spaces(text))

        before = self._taken(text)
        self.until(typed)
        self.press("Enter", lambda: self._taken(text) > before)

    def press(self, key: str, has_worked: Callable[[], bool]) -> None:
        looks = count()

        def pressed() -> bool:
            if has_worked():
                return True
            if next(looks) % _AGAIN == 0:
                self.terminal.press(key)
            return False

        self.until(pressed)

    def reads(self, text: str) -> None:
        """Waits until a turn ended with these words."""
        self.until(lambda: any(text in (one["last_assistant_message"] or "") for one in self._recorder.told("Stop")))

    def until_compacted(self) -> None:
        self.until(lambda: self._recorder.told("PostCompact"))

    def until(self, condition: Callable[[], Any]) -> None:
        until(condition, lambda: f"{self.terminal.history}\nthe scripted model was not ready for: {self._server.lost}")

    def _taken(self, text: str) -> int:
        if text == "/compact":
            return len(self._recorder.told("PreCompact"))
        return sum(one["prompt"].strip() == text for one in self._recorder.told("UserPromptSubmit"))

    def _shows(self, text: str) -> bool:
        """Without spaces: a long line is folded on the screen."""
        return text in without_spaces(self.terminal.screen)


class InteractiveSession(Person):
    """Claude Code."""

    def __init__(
        self, stage: Stage, home: Path, server: ModelServer, *, mode: str = "default", plugins: Sequence[Path] = ()
    ) -> None:
        launch = claude(server, home)
        folders = [part for one in (*plugins, stage.recorder.folder) for part in ("--plugin-dir", str(one))]
        own = home / "claude"
        own.mkdir(exist_ok=True)
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        (own / ".claude.json").write_text(
            json.dumps(
                {
                    "hasCompletedOnboarding": True,
                    "theme": "dark",
                    "bypassPermissionsModeAccepted": True,
                    "customApiKeyResponses": {"approved": ["scripted"], "rejected": []},
                    "projects": {str(stage.project): known},
                }
            )
        )
        options = ["--setting-sources", "user,project,local", "--strict-mcp-config", "--permission-mode", mode]
        env = {name: value for name, value in launch.env.items() if name != "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"}
        place = home / f"terminal-{mode}-{len(list(home.glob('terminal-*')))}"
        place.mkdir()
        command = [launch.command[0], *options, *folders]
        terminal = Terminal(place, command, stage.project, {**env, "TERM": "xterm-256color"})
        super().__init__(terminal, stage.recorder, server)
        self.until(lambda: re.search(_READY, self.terminal.screen))


def without_spaces(text: str) -> str:
    return "".join(text.split())
