"""OpenCode keeps to the contract: as it is, over ACP, with the scripted model."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import (
    Done,
    Failed,
    MustWait,
    Outcome,
    Probed,
    TimedOut,
    Tokens,
)
from aotloop.agents.opencode.backend import OpenCode, _config, _hint_of_trouble, make
from aotloop.agents.registry import Settings
from aotloop.errors import Unavailable
from aotloop.process.spec import Limits
from tests.agents.assignments import an_assignment, attempt, worker_answer
from tests.agents.sleepers import Sleepers
from tests.modelserver import Answer, Call, Delivery, ModelServer, Refuse, Say, Script, Turn, Usage, errors, tool
from tests.modelserver.clients import OPENCODE, needs_opencode
from tests.modelserver.operators import MODELS, NO_MODELS
from tests.patience import reached

ANSWER = json.loads(worker_answer())
CANARY = "sk-canary-of-the-operator"


def shell(command: str) -> Call:
    return Call(tool("bash", command=command, description="test"))


def test_a_client_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="npm install -g opencode-ai"):
        attempt(make(Settings(program="/no/such/opencode")), an_assignment(tmp_path))
    assert not (tmp_path / "scratch" / "opencode").exists()


LOGGED = """timestamp=2026-11-15T18:53:13.868Z level=ERROR run=4b9c message="stream error" providerID=p modelID=m \
session.id=ses_e1 small={} agent=build mode=primary error.error="AI_APICallError: {}\""""


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (LOGGED.format("false", "Rate limit reached"), "rate_limit"),
        (LOGGED.format("false", "who knows"), "outage"),
        (LOGGED.format("true", "Rate limit reached"), None),
        ("anything else", None),
    ],
)
def test_its_log_tells_what_it_waits_for(line: str, cause: str | None) -> None:
    met = _hint_of_trouble(line)
    assert (met.cause if met is not None else None) == cause


@pytest.mark.parametrize(
    "given", [None, "", "no json", "[]", '{"permission": {"*": "allow"}, "mcp": {}, "plugin": []}']
)
def test_of_the_users_settings_only_those_about_models_count(tmp_path: Path, given: str | None) -> None:
    config = _config(an_assignment(tmp_path, role="probe"), None, given)
    assert config["permission"] == {"*": "deny", "read": "allow", "glob": "allow", "grep": "allow", "list": "allow"}
    assert not {"model", "mcp", "plugin"} & {*config}


def test_a_model_of_ours_comes_before_the_users(tmp_path: Path) -> None:
    given = json.dumps({"model": "theirs", "small_model": "small", "provider": {"x": {}}})
    config = _config(an_assignment(tmp_path), "ours", given)
    assert (config["model"], config["small_model"], config["provider"]) == ("ours", "small", {"x": {}})


@needs_opencode
class TestOpenCode:
    @pytest.fixture(autouse=True)
    def tree(self, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A repository, and an operator with settings and secrets of their own."""
        tree = tmp_path / "tree"
        subprocess.run(["git", "init", "-q", tree], check=True)
        (tree / "AGENTS.md").write_text("Be brief, says the repository.\n")
        for name in (".config/opencode/AGENTS.md", ".config/opencode/opencode.json"):
            file = own_home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"username": CANARY}))
        login = own_home / ".local/share/opencode/auth.json"
        login.parent.mkdir(parents=True)
        login.write_text(json.dumps({"another": {"type": "api", "key": CANARY}}))
        monkeypatch.setenv("CANARY_TOKEN", CANARY)
        return tree

    def backend(self, server: ModelServer, monkeypatch: pytest.MonkeyPatch, **more: Any) -> OpenCode:
        options = {"baseURL": f"{server.url}/v1", "apiKey": "sk-scripted"}
        model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
        config = {"provider": {"scripted": provider}, "small_model": "scripted/scripted", "username": CANARY}
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(config))
        for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
            monkeypatch.setenv(name, server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv(MODELS, str(NO_MODELS))
        return OpenCode(program=str(OPENCODE), model="scripted/scripted", pass_env=(MODELS,), **more)

    def outcome(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: Sequence[Turn], **more: Any
    ) -> tuple[Outcome, ModelServer]:
        with ModelServer([Script("Greet", turns)]) as server:
            backend = self.backend(server, monkeypatch, patience=3)
            outcome = attempt(backend, an_assignment(tmp_path, prompt="Greet the world", **more))
        return outcome, server

    def test_edits_runs_and_answers_and_counts(
        self, tmp_path: Path, own_home: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write = tool("write", filePath=str(tree / "hello.txt"), content="hello\n")
        spent = Usage(input=100, output=7, cache_read=30)
        turns = [Call(write, usage=spent), shell("env > seen; wc -l < hello.txt > lines"), Answer(ANSWER)]
        lines: list[str] = []
        with ModelServer([Script("Greet", turns)]) as server:
            assignment = an_assignment(tmp_path, prompt="Greet the world", env={"EXTRA": "given"})
            outcome = attempt(self.backend(server, monkeypatch), assignment, lines.append)
        assert isinstance(outcome, Done), outcome
        assert (tree / "hello.txt").read_text() == "hello\n"
        assert (tree / "lines").read_text().strip() == "1"
        counted = server.usage["scripted"]
        assert outcome.tokens == Tokens(input=counted.input, output=counted.output, cache_read=counted.cache_read)
        assert outcome.turns == len(server.played) == 3
        assert b"Be brief, says the repository." in server.played[0].request.body
        assert any(line.startswith("$ ") and "wc -l" in line for line in lines)
        assert "EXTRA=given" in (tree / "seen").read_text()
        assert CANARY not in (tree / "seen").read_text()
        self.assert_nothing_of_the_operator_is_seen(assignment.scratch, own_home, server)

    def assert_nothing_of_the_operator_is_seen(self, scratch: Path, home: Path, server: ModelServer) -> None:
        assert server.elsewhere == []
        assert not any(CANARY.encode() in one.body or CANARY in str(one.headers) for one in server.requests)
        kept = [file for file in scratch.rglob("*") if file.is_file()]
        assert kept
        assert not any(CANARY.encode() in file.read_bytes() for file in kept)
        assert not (scratch / "opencode").exists()
        settings = sorted(str(file.relative_to(home)) for file in home.rglob("*") if file.is_file())
        assert settings == [
            ".config/opencode/AGENTS.md",
            ".config/opencode/opencode.json",
            ".local/share/opencode/auth.json",
        ]

    @pytest.mark.parametrize(
        ("turn", "cause"),
        [
            (errors.rate_limited(retry_after=3600), "rate_limit"),
            (Say("x" * 200, delivery=Delivery(events=4, then="end")), "outage"),
        ],
    )
    def test_what_passes_is_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: Turn, cause: str
    ) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [turn] * 99)
        assert isinstance(outcome, MustWait), outcome
        assert outcome.cause == cause

    @pytest.mark.parametrize(
        ("turn", "cause", "words"),
        [(errors.unauthorized(), "auth", "opencode auth login"), (Refuse(), "refusal", "refuses")],
    )
    def test_what_does_not_pass_is_a_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: Turn, cause: str, words: str
    ) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [turn] * 20)
        assert isinstance(outcome, Failed)
        assert outcome.cause == cause
        assert words in outcome.reason

    def test_a_command_that_hangs_is_ended_with_all_it_started(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sleepers = Sleepers()
        turns = [shell(sleepers.command)] * 2
        outcome, _ = self.outcome(tmp_path, monkeypatch, turns, limits=Limits(inactivity=6), grace=0.1)
        assert isinstance(outcome, TimedOut)
        assert sleepers.alive() == 0

    def test_cancelling_kills_it_and_its_commands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assignment = an_assignment(tmp_path, prompt="Greet the world", grace=0.2)
        sleepers = Sleepers()

        async def cancelled(backend: OpenCode) -> None:
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            await reached(lambda: task.done() or sleepers.alive() >= 2, "it has started nothing")
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with ModelServer([Script("Greet", [shell(sleepers.command)] * 2)]) as server:
            asyncio.run(cancelled(self.backend(server, monkeypatch)))
        assert sleepers.alive() == 0
        assert not (assignment.scratch / "opencode").exists()

    def test_who_may_only_look_cannot_write(self, tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        value = {"feasible": True, "findings": "seen"}
        write = tool("write", filePath=str(tree / "made"), content="x")
        looked = Call(tool("read", filePath=str(tree / "AGENTS.md")))
        turns = [Call(write), shell("echo x > made"), looked, Answer(value)]
        outcome, server = self.outcome(tmp_path, monkeypatch, turns, role="probe")
        assert isinstance(outcome, Probed), outcome
        assert "says the repository" in str(server.played[-1].exchange.results), "it may look"
        assert sorted(file.name for file in tree.iterdir()) == [".git", "AGENTS.md"]

    def test_a_worker_does_not_edit_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write = tool("write", filePath=str(tmp_path / "made"), content="x")
        outcome, _ = self.outcome(tmp_path, monkeypatch, [Call(write), Answer(ANSWER)])
        assert isinstance(outcome, Done), outcome
        assert not (tmp_path / "made").exists()
