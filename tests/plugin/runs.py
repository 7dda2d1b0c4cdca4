"""What is known after a client has run: its events and exit code, and what its hooks were told meanwhile."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.modelserver import Exchange, ModelServer
from tests.plugin.recorder import Payload
from tests.repositories import new_repository

Event = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Run:
    code: int
    events: Sequence[Event]
    errors: str
    calls: Sequence[Payload]
    """Of the recorder, during this run only."""

    def told(self, event: str, **having: Any) -> list[Mapping[str, Any]]:
        """The inputs of that event's calls, in order, that have these values."""
        inputs = [call.input for call in self.calls if call.event == event]
        return [one for one in inputs if all(one.get(key) == value for key, value in having.items())]

    def of(self, kind: str) -> list[Event]:
        """Those of a type ("result") or of a system event's subtype ("task_started")."""
        return [event for event in self.events if kind in (event["type"], event.get("subtype"))]

    @property
    def session(self) -> str:
        """For `resume`. Claude Code's events have it; Codex calls it the thread."""
        named = [event.get("session_id") or event.get("thread_id") for event in self.events]
        return str(next(name for name in named if name))

    @property
    def said(self) -> str:
        """The last words of Claude Code to whoever started it."""
        return str(self.of("result")[-1].get("result", ""))


def heard(server: ModelServer, mark: str) -> list[Exchange]:
    """The requests of one agent: those with `mark` in the system prompt or in the first text."""
    asked = [record.exchange for record in server.played]
    return [exchange for exchange in asked if mark in exchange.system or mark in exchange.prompt]


def a_repository(folder: Path) -> Path:
    """With one commit, and with a name for those who commit in it."""
    folder.mkdir(parents=True)
    new_repository(folder)
    commit(folder, "begin")
    return folder


def commit(repository: Path, subject: str) -> None:
    _git(repository, "commit", "-q", "--allow-empty", "-m", subject)


def push(repository: Path) -> None:
    """To a remote of its own, beside it, whose default branch it then knows."""
    remote = repository.with_name("remote.git")
    _git(repository, "clone", "-q", "--bare", ".", str(remote))
    _git(repository, "remote", "add", "origin", str(remote))
    _git(repository, "fetch", "-q", "origin")
    _git(repository, "remote", "set-head", "origin", "-a")


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
