"""The real Claude Code as a person has it: on a terminal (tmux), with a scripted model. A person types and permits.

with InteractiveSession(stage, server, mode="default") as person:
    person.type("/aot-loop:enter-recursion")
    until(lambda: person.permit_all() and …)

A permission prompt is counted when it is answered.
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
from tests.plugin.stage import Stage

TMUX = shutil.which("tmux")
needs_tmux = pytest.mark.skipif(
    TMUX is None, reason="not installed: tmux; `make test-clients` installs it where it can"
)
_ASKED = re.compile(r"Do you want to (?:proceed|make this edit|create|overwrite)[^\n]*\n\s*\S 1\. Yes")
_TICKS = 40
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

    def type(self, text: str) -> None:
        self.send(text)
        last = text[-20:]
        until(lambda: last in self.screen, lambda: self.screen)
        self._run("send-keys", "Enter")

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


class InteractiveSession:
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
        self.permitted = 0
        self._server = server
        self.terminal = Terminal(
            place, [launch.command[0], *options, *folders], stage.project, {**env, "TERM": "xterm-256color"}
        )
        until(lambda: re.search(_READY, self.terminal.screen), lambda: self.terminal.screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.close()

    def type(self, text: str) -> None:
        self.terminal.type(text)

    def until(self, condition: Callable[[], Any]) -> None:
        """Waits, and permits what is asked for meanwhile."""

        def look() -> bool:
            if (asked := self._asked()) is not None:
                self.permitted += 1
                ticks = count()
                until(lambda: self._has_gone(asked, next(ticks)), lambda: self.terminal.screen)
            return bool(condition())

        until(look, lambda: f"{self.terminal.history}\nthe scripted model was not ready for: {self._server.lost}")

    def _asked(self) -> str | None:
        """The prompt with what it asks about; None: the client asks nothing."""
        screen = self.terminal.screen
        return screen[: found.end()][-1500:] if (found := _ASKED.search(screen)) else None

    def _has_gone(self, asked: str, tick: int) -> bool:
        """A client takes no key in the first moments of a prompt, so the key is pressed more than once."""
        if self._asked() != asked:
            return True
        if tick % _TICKS == 0:
            self.terminal.press("Enter")
        return False

    def reads(self, text: str) -> None:
        """Waits until this was on the screen."""
        self.until(lambda: text in self.terminal.history)
