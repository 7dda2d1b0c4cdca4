"""Real coding agents work with the scripted model: they edit a file, run a command and return a structured result."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.modelserver import Answer, Call, ModelServer, Script, ToolCall, errors, tool
from tests.modelserver.clients import claude, codex, finished, needs_claude, needs_codex, needs_opencode, opencode

PROMPT = "Greet the world"
SCHEMA = {
    "type": "object",
    "properties": {"success": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["success", "reason"],
    "additionalProperties": False,
}
ANSWER = {"success": True, "reason": ""}
PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n"
COUNT = "wc -l < hello.txt > lines.txt"


@pytest.fixture
def home(own_home: Path) -> Path:
    return own_home


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "AGENTS.md").write_text("Be brief, says the repository.\n")
    return folder


def assert_done(cwd: Path, server: ModelServer) -> None:
    assert (cwd / "hello.txt").read_text() == "hello\n"
    assert (cwd / "lines.txt").read_text().strip() == "1"
    assert server.lost == []
    assert server.elsewhere == []
    first = server.played[0]
    assert first.exchange.prompt.strip() == PROMPT
    assert b"Be brief, says the repository." in first.request.body


class TestClaude:
    pytestmark = needs_claude

    def test_edits_runs_and_answers(self, home: Path, cwd: Path) -> None:
        write = tool("Write", file_path=str(cwd / "hello.txt"), content="hello\n")
        run = tool("Bash", command=COUNT, description="count")
        with ModelServer([Script(PROMPT, [Call(write), Call(run), Answer(ANSWER)])]) as server:
            done = finished(claude(server, home, schema=SCHEMA), cwd, PROMPT)
            assert_done(cwd, server)
        (result,) = [one for one in done.events if one["type"] == "result"]
        assert (done.code, result["subtype"], result["is_error"]) == (0, "success", False)
        assert result["structured_output"] == ANSWER
        assert result["total_cost_usd"] > 0
        (spent,) = result["modelUsage"].values()
        (counted,) = server.usage.values()
        assert (spent["inputTokens"], spent["outputTokens"]) == (counted.input, counted.output)

    def test_says_that_it_met_a_rate_limit(self, home: Path, cwd: Path) -> None:
        with ModelServer([Script(PROMPT, [errors.rate_limited(retry_after=3600)])]) as server:
            done = finished(claude(server, home), cwd, PROMPT)
        assert (done.code, done.events[-1]["is_error"], done.events[-1]["api_error_status"]) == (1, True, 429)


class TestCodex:
    pytestmark = needs_codex

    def test_edits_runs_and_answers(self, home: Path, cwd: Path) -> None:
        turns = [Call(ToolCall("apply_patch", PATCH)), Call(tool("exec_command", cmd=COUNT)), Answer(ANSWER)]
        with ModelServer([Script(PROMPT, turns)]) as server:
            done = finished(codex(server, home, schema=SCHEMA), cwd, PROMPT)
            assert_done(cwd, server)
        said = [one["item"] for one in done.events if one["type"] == "item.completed"]
        assert [item["type"] for item in said] == ["file_change", "command_execution", "agent_message"]
        assert json.loads(said[-1]["text"]) == ANSWER
        (counted,) = server.usage.values()
        assert (done.code, done.events[-1]["type"]) == (0, "turn.completed")
        assert done.events[-1]["usage"]["input_tokens"] == counted.input

    def test_says_that_it_met_a_rate_limit(self, home: Path, cwd: Path) -> None:
        with ModelServer([Script(PROMPT, [errors.rate_limited(retry_after=3600)])]) as server:
            done = finished(codex(server, home), cwd, PROMPT)
        assert (done.code, done.events[-1]["type"]) == (1, "turn.failed")
        assert "429" in done.events[-1]["error"]["message"]


class TestOpenCode:
    pytestmark = needs_opencode

    def turns(self, cwd: Path) -> list[Call | Answer]:
        write = tool("write", filePath=str(cwd / "hello.txt"), content="hello\n")
        return [Call(write), Call(tool("bash", command=COUNT, description="count")), Answer(ANSWER)]

    def test_edits_runs_and_answers(self, home: Path, cwd: Path) -> None:
        with ModelServer([Script(PROMPT, self.turns(cwd))]) as server:
            done = finished(opencode(server, home, "run", "--format", "json", "--title", "test"), cwd, PROMPT)
            assert_done(cwd, server)
        kinds = [one["type"] for one in done.events if not one["type"].startswith("step")]
        assert (done.code, kinds) == (0, ["tool_use", "tool_use", "text"])
        text = next(one["part"]["text"] for one in done.events if one["type"] == "text")
        assert json.loads(text) == ANSWER
        spent = [one["part"]["tokens"]["input"] for one in done.events if one["type"] == "step_finish"]
        assert sum(spent) == server.usage["scripted"].input
