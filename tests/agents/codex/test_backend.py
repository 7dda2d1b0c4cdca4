"""Codex keeps to the contract: played by programs for what goes wrong, and as it is, with the scripted model."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.attempt.usage import Price
from aotloop.agents.codex import backend as backend_module
from aotloop.agents.codex.backend import Codex, make
from aotloop.agents.contract import (
    Backend,
    Crashed,
    Done,
    Failed,
    Garbage,
    Judged,
    Meter,
    MustWait,
    Outcome,
    Probed,
    TimedOut,
    Tokens,
)
from aotloop.agents.registry import Settings
from aotloop.errors import Unavailable
from aotloop.process.spec import Limits
from tests.agents.assignments import an_assignment, attempt, until_written, worker_answer
from tests.agents.conformance import AnswerConformance
from tests.agents.sleepers import Sleepers
from tests.modelserver import (
    Answer,
    Call,
    Delivery,
    ModelServer,
    Refuse,
    Say,
    Script,
    ToolCall,
    Turn,
    Usage,
    cut,
    errors,
    silent,
    stalled,
    tool,
)
from tests.modelserver.clients import CODEX, needs_codex
from tests.patience import reached, with_time_enough

COMPLETED = json.dumps({"type": "turn.completed", "usage": {"input_tokens": 12, "cached_input_tokens": 2}})


def message(text: str) -> str:
    return json.dumps({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}})


def played_by(folder: Path, program: Path) -> Codex:
    client = folder / "codex"
    client.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(program)])}\n")
    client.chmod(0o755)
    return Codex(program=str(client))


class TestCodexPlayed(AnswerConformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        return played_by(folder, program), {}

    def line(self, answer: str) -> str:
        return message(answer)

    def says(self, answer: str) -> str:
        """The end of the turn comes first, so that the answer is the last line; the backend does not mind."""
        return f"print({COMPLETED!r}); print({self.line(answer)!r})"


def printed(folder: Path, *lines: str, more: str = "") -> Outcome:
    program = folder / "program.py"
    program.write_text("".join(f"print({line!r})\n" for line in lines) + more)
    return attempt(played_by(folder, program), an_assignment(folder))


# --- what its output means ---------------------------------------------------------------------------------------


def test_an_answer_without_the_end_of_its_turn_is_not_believed(tmp_path: Path) -> None:
    outcome = printed(tmp_path, message(worker_answer()))
    assert isinstance(outcome, Crashed)
    assert "in the middle of its turn" in outcome.reason


def test_an_answer_does_not_go_together_with_a_failing_exit(tmp_path: Path) -> None:
    outcome = printed(tmp_path, message(worker_answer()), COMPLETED, more="raise SystemExit(1)")
    assert isinstance(outcome, Crashed)


def test_an_error_after_which_it_went_on_is_forgotten(tmp_path: Path) -> None:
    error = json.dumps({"type": "error", "message": "Reconnecting... 1/3 (stream disconnected)"})
    outcome = printed(tmp_path, error, message(worker_answer()), COMPLETED)
    assert isinstance(outcome, Done)
    assert outcome.tokens == Tokens(input=10, cache_read=2)


def test_an_error_that_was_the_last_thing_explains_the_silence_after_it(tmp_path: Path) -> None:
    error = json.dumps({"type": "error", "message": "Reconnecting... 1/3 (stream disconnected)"})
    program = tmp_path / "program.py"
    program.write_text(f"import time; print({error!r}, flush=True); time.sleep(3600)")
    outcome = with_time_enough(
        lambda limit: attempt(played_by(tmp_path, program), an_assignment(tmp_path, limits=Limits(inactivity=limit))),
        lambda outcome: outcome.output,
    )
    assert isinstance(outcome, MustWait)
    assert outcome.cause == "outage"


def test_an_event_of_a_megabyte_is_read_whole(tmp_path: Path) -> None:
    outcome = printed(tmp_path, message("x" * 1_000_000 + worker_answer()), COMPLETED)
    assert isinstance(outcome, Done)


def test_an_event_too_long_to_be_read_is_noted(tmp_path: Path) -> None:
    outcome = printed(tmp_path, message("x" * 3_000_000), message(worker_answer()), COMPLETED)
    assert isinstance(outcome, Done)
    assert outcome.notes == ("1 of its events were too long to be read",)


def test_a_client_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="npm install -g @openai/codex"):
        attempt(make(Settings(program="/no/such/codex")), an_assignment(tmp_path))


# --- the real one ------------------------------------------------------------------------------------------------

ANSWER = json.loads(worker_answer())
PATCH = ToolCall("apply_patch", "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n")
CANARY = "sk-canary-of-the-operator"


def shell(command: str, **more: Any) -> Call:
    return Call(tool("exec_command", cmd=command), **more)


@needs_codex
class TestCodex:
    @pytest.fixture(autouse=True)
    def tree(self, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A worktree of a repository, and an operator with settings and secrets of their own."""
        main, tree = tmp_path / "main", tmp_path / "tree"
        subprocess.run(["git", "init", "-q", main], check=True)
        (main / "AGENTS.md").write_text("Be brief, says the repository.\n")
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "-C", main, "add", "."], check=True)
        subprocess.run(["git", "-C", main, *who, "commit", "-qm", "first"], check=True)
        subprocess.run(["git", "-C", main, "worktree", "add", "-q", tree], check=True)
        operator = own_home / ".codex"
        operator.mkdir()
        (operator / "config.toml").write_text(f'model = "{CANARY}"\n')
        (operator / "AGENTS.md").write_text(f"{CANARY}\n")
        monkeypatch.setenv("CANARY_TOKEN", CANARY)
        return tree

    def backend(self, server: ModelServer, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Codex:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):
            monkeypatch.setenv(name, server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        return Codex(program=str(CODEX), model="gpt-5.5", **more)

    def outcome(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        turns: Sequence[Turn],
        patience: float = 0.5,
        **more: Any,
    ) -> tuple[Outcome, ModelServer]:
        with ModelServer([Script("Greet", turns)]) as server:
            backend = self.backend(server, monkeypatch, patience=patience)
            outcome = attempt(backend, an_assignment(tmp_path, prompt="Greet the world", **more))
        assert server.elsewhere == []
        return outcome, server

    def test_edits_runs_and_answers_and_counts(
        self, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spent = Usage(input=100, output=7, cache_read=30)
        turns = [Call(PATCH, usage=spent), shell("env > seen; wc -l < hello.txt > lines"), Answer(ANSWER)]
        lines: list[str] = []
        with ModelServer([Script("Greet", turns)]) as server:
            assignment = an_assignment(tmp_path, prompt="Greet the world", env={"EXTRA": "given"})
            outcome = attempt(self.backend(server, monkeypatch), assignment, lines.append)
        assert isinstance(outcome, Done)
        assert (assignment.cwd / "hello.txt").read_text() == "hello\n"
        assert (assignment.cwd / "lines").read_text().strip() == "1"
        (counted,) = server.usage.values()
        assert outcome.tokens == Tokens(input=counted.input, output=counted.output, cache_read=counted.cache_read)
        assert server.played[0].exchange.schema == assignment.result_schema
        assert b"Be brief, says the repository." in server.played[0].request.body
        assert any(line.startswith("$ ") and "wc -l" in line for line in lines)
        self.assert_nothing_of_the_operator_is_seen(assignment.scratch, own_home, server)
        seen = (assignment.cwd / "seen").read_text()
        assert "EXTRA=given" in seen
        assert CANARY not in seen
        assert "sk-scripted" not in seen, "the key is Codex's, not that of its commands"

    def assert_nothing_of_the_operator_is_seen(self, scratch: Path, home: Path, server: ModelServer) -> None:
        assert not any(CANARY.encode() in one.body for one in server.requests)
        assert not any(CANARY in str(one.headers) for one in server.requests)
        kept = [file for file in scratch.rglob("*") if file.is_file()]
        assert kept
        assert not any(CANARY.encode() in file.read_bytes() for file in kept)
        assert not (scratch / "codex").exists()
        assert sorted(file.name for file in (home / ".codex").iterdir()) == ["AGENTS.md", "config.toml"]
        assert (home / ".codex" / "config.toml").read_text() == f'model = "{CANARY}"\n'

    def test_says_that_it_failed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        said = json.loads(worker_answer(success=False, reason="there is no such thing"))
        outcome, _ = self.outcome(tmp_path, monkeypatch, [Answer(said)])
        assert isinstance(outcome, Failed)
        assert (outcome.reason, outcome.taught) == ("there is no such thing", True)

    def test_words_instead_of_an_answer_are_garbage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [Say("All done!")])
        assert isinstance(outcome, Garbage)
        assert "All done!" in outcome.reason

    def test_a_refusal_is_no_success(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [Refuse()])
        assert isinstance(outcome, Garbage)
        assert "refuses" in outcome.reason

    @pytest.mark.parametrize(
        ("turn", "cause"),
        [
            (errors.rate_limited(), "rate_limit"),
            (errors.rate_limited(retry_after=3600), "rate_limit"),
            (errors.subscription_used_up(), "rate_limit"),
            (errors.server_error(), "overload"),
            (errors.overloaded(503), "overload"),
            (Say("x" * 200, delivery=cut()), "outage"),
        ],
    )
    def test_what_passes_is_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: Turn, cause: str
    ) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [turn] * 20)
        assert isinstance(outcome, MustWait)
        assert outcome.cause == cause

    @pytest.mark.parametrize(
        ("turn", "cause", "words"),
        [
            (errors.unauthorized(), "auth", "codex login"),
            (errors.no_quota(), "quota", "Quota exceeded"),
            (errors.too_long(), "too_long", "too long"),
        ],
    )
    def test_what_does_not_pass_is_a_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: Turn, cause: str, words: str
    ) -> None:
        outcome, _ = self.outcome(tmp_path, monkeypatch, [turn] * 20)
        assert isinstance(outcome, Failed)
        assert outcome.cause == cause
        assert words in outcome.reason

    def test_a_service_that_comes_back_soon_is_no_trouble(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turns = [errors.rate_limited(retry_after=1), Say("x" * 200, delivery=cut()), Answer(ANSWER)]
        outcome, _ = self.outcome(tmp_path, monkeypatch, turns, patience=30)
        assert isinstance(outcome, Done)

    def test_a_command_that_hangs_is_ended_with_all_it_started(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sleepers = Sleepers()
        turns = [shell(sleepers.command)] * 2
        outcome, _ = self.outcome(tmp_path, monkeypatch, turns, limits=Limits(inactivity=2), grace=0.1)
        assert isinstance(outcome, TimedOut)
        assert sleepers.alive() == 0

    @pytest.mark.parametrize("delivery", [silent(), stalled(), Delivery(events=3, then="ping")])
    def test_a_service_that_falls_silent_is_asked_again_and_is_out_in_the_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delivery: Delivery
    ) -> None:
        monkeypatch.setattr(backend_module, "_SHORTEST_SILENCE", 0.5)
        turns = [Call(PATCH, usage=Usage(input=70, output=3)), *[Say("x" * 200, delivery=delivery)] * 9]
        outcome, server = self.outcome(tmp_path, monkeypatch, turns, limits=Limits(start_up=60, inactivity=6))
        assert isinstance(outcome, MustWait | TimedOut)
        assert outcome.cause == "outage" if isinstance(outcome, MustWait) else not outcome.taught
        assert outcome.tokens == Tokens(input=70, output=3)
        assert len(server.played) <= 6

    def test_it_is_ended_when_its_share_of_the_money_is_used_up(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        turns = [shell("sleep 0.3", usage=Usage(input=1000, output=1))] * 20
        with ModelServer([Script("Greet", turns)]) as server:
            backend = self.backend(server, monkeypatch, price=Price(input=1000.0))
            meter = Meter()
            outcome = attempt(
                backend, an_assignment(tmp_path, prompt="Greet", max_cost_usd=2.5, meter=meter, grace=0.1)
            )
        assert isinstance(outcome, Failed)
        assert outcome.cause == "budget"
        assert outcome.tokens == meter.tokens
        assert 3 <= len(server.played) <= 5, "what it spends until that is known, and no more"

    def test_what_it_used_before_it_was_stopped_is_known(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        used = Usage(input=1000, output=70, cache_read=30)
        meter = Meter()

        async def stopped(backend: Codex) -> None:
            assignment = an_assignment(tmp_path, prompt="Greet the world", grace=0.2, meter=meter)
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            await reached(lambda: len(server.played) == 2, "it asked only once")
            await reached(lambda: meter.tokens is not None, "it told nothing while it worked")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        turns = [shell("true", usage=used), Say("x", delivery=silent())]
        with ModelServer([Script("Greet", turns)]) as server:
            asyncio.run(stopped(self.backend(server, monkeypatch)))
        assert meter.tokens == Tokens(input=1000, output=70, cache_read=30)

    def test_cancelling_kills_it_and_its_commands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assignment = an_assignment(tmp_path, prompt="Greet the world", grace=0.2)
        sleepers = Sleepers()

        async def cancelled(backend: Codex) -> None:
            task = asyncio.create_task(backend.run(assignment, lambda _: None))
            await until_written([assignment.cwd / "started"])
            await reached(lambda: sleepers.alive() >= 2, "it has started nothing")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        with ModelServer([Script("Greet", [shell(sleepers.command)] * 2)]) as server:
            asyncio.run(cancelled(self.backend(server, monkeypatch)))
        assert sleepers.alive() == 0
        assert not (assignment.scratch / "codex").exists()

    @pytest.mark.parametrize("role", ["probe", "verifier"])
    def test_who_may_only_look_cannot_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
        value = {"feasible": True, "findings": "seen", "passed": True, "evidence": "seen"}
        turns = [Call(PATCH), shell("echo x > made; cat AGENTS.md"), Answer(value)]
        outcome, server = self.outcome(tmp_path, monkeypatch, turns, role=role)
        assert isinstance(outcome, Probed | Judged)
        assert "says the repository" in str(server.played[-1].exchange.results), "it may look"
        status = subprocess.run(
            ["git", "-C", tmp_path / "tree", "status", "--porcelain"], capture_output=True, check=True
        )
        assert status.stdout == b""

    def test_a_worker_cannot_write_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        outcome, _ = self.outcome(
            tmp_path, monkeypatch, [shell(f"echo x > {tmp_path}/made; mktemp > made"), Answer(ANSWER)]
        )
        assert isinstance(outcome, Done)
        assert not (tmp_path / "made").exists()
        assert str(tmp_path / "scratch" / "codex" / "tmp") in (tmp_path / "tree" / "made").read_text(), "but there"

    def test_a_login_is_used_and_not_kept(
        self, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        login = own_home / ".codex" / "auth.json"
        login.write_text(json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-of-the-login"}))
        outcome, server = self.outcome(tmp_path, monkeypatch, [Answer(ANSWER)])
        assert isinstance(outcome, Done)
        assert server.requests[-1].headers["authorization"] == "Bearer sk-of-the-login"
        assert not list((tmp_path / "scratch").rglob("auth.json"))
