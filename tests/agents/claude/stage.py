"""Where Claude Code is tested: a repository, a scripted model, and the environment of an operator."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from aotloop.agents.claude.backend import Claude
from aotloop.agents.contract import Assignment, Outcome
from aotloop.agents.roles import Role
from tests.agents.assignments import an_assignment, attempt, worker_answer
from tests.modelserver import Answer, Call, ModelServer, Script, Turn, tool

PROMPT = "Greet the world"
DONE = Answer(json.loads(worker_answer()))
PASSED = Answer({"passed": True, "evidence": "looked", "failures": []})
FOUND = Answer({"feasible": True, "findings": "looked", "cost_estimate": None, "proposal": None})
ANSWERS: dict[Role, Turn] = {"worker": DONE, "probe": FOUND, "verifier": PASSED}


def shell(command: str) -> Call:
    return Call(tool("Bash", command=command, description="a command"))


class Stage:
    """A repository, a model, and the environment in which the operator would start us."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, program: Path) -> None:
        self.folder = folder
        self.cwd = folder / "tree"
        self.cwd.mkdir()
        subprocess.run(["git", "init", "-q", self.cwd], check=True)
        self.backend = Claude(program=str(program), retries=1)
        self.lines: list[str] = []
        self._monkeypatch = monkeypatch

    def serve(self, turns: Sequence[Any], *others: Script) -> ModelServer:
        return ModelServer([*others, Script(PROMPT, turns)])

    def assignment(self, server: ModelServer, **more: Any) -> Assignment:
        """With the server as proxy, too: so it shows whom else the client wants to talk to."""
        operators = {"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": server.url}
        proxies = {"HTTPS_PROXY": server.url, "HTTP_PROXY": server.url, "NO_PROXY": "127.0.0.1"}
        for name, value in (operators | proxies).items():
            self._monkeypatch.setenv(name, value)
        env = {"CLAUDE_CODE_TMPDIR": str(self.folder / "tmp"), **more.pop("env", {})}
        return an_assignment(self.folder, **{"prompt": PROMPT, "env": env, **more})

    def play(self, turns: Sequence[Any], *others: Script, **more: Any) -> tuple[Outcome, ModelServer]:
        with self.serve(turns, *others) as server:
            assignment = self.assignment(server, **more)
            outcome = attempt(self.backend, assignment, self.lines.append)
            assert server.elsewhere == []
        assert self.living() == []
        return outcome, server

    def living(self) -> list[psutil.Process]:
        """What belongs to our attempts and is not dead."""
        return [one for one in psutil.process_iter() if self._is_ours(one)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("AOT_STATE_FILE") == str(self.folder / "state.md")
        except psutil.Error:
            return False

    def files(self) -> list[Path]:
        found = (Path(folder, name) for folder, _, names in os.walk(self.cwd) for name in names)
        return sorted(path.relative_to(self.cwd) for path in found if ".git" not in path.parts)


def committed(folder: Path, **files: str) -> None:
    for name, content in files.items():
        (folder / name).write_text(content)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "files", "--allow-empty"], check=True)
