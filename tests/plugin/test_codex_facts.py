"""What Codex does today, as far as our hooks rely on it: docs/development/plugin-facts.md tells the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from tests.modelserver import Call, Exchange, ModelServer, Say, Script, ToolCall, tool
from tests.modelserver.clients import needs_codex
from tests.plugin.codex_stage import UNTRUSTED_TOO, CodexStage
from tests.plugin.recorder import Reply, says

pytestmark = needs_codex

PATCH = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n"
GO_ON = {"decision": "block", "reason": "Two atoms remain."}


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> CodexStage:
    return CodexStage(tmp_path / "stage", own_home)


def counted(exchange: Exchange) -> Say:
    return Say(f"turn {len(exchange.texts)}")


@pytest.mark.parametrize("where", ["user", "project"])
def test_block_makes_a_turn_go_on(stage: CodexStage, where: Literal["user", "project"]) -> None:
    stage.hook(where)
    stage.recorder.reply(says(GO_ON, times=2, hook_event_name="Stop"), Reply(when={}, stdout="{}"))
    with ModelServer([Script("begin", [counted] * 3)]) as server:
        run = stage.run(server, "begin", UNTRUSTED_TOO)
        assert server.lost == []
    stops = run.told("Stop")
    assert [one["stop_hook_active"] for one in stops] == [False, True, True]
    assert {one["session_id"] for one in stops} == {run.session}
    reasons = [text for text in server.played[-1].exchange.texts if "Two atoms remain.</hook_prompt>" in text]
    assert (run.code, len(reasons)) == (0, 2)


def test_a_hook_that_nobody_trusted_does_not_run_and_nobody_is_told(stage: CodexStage) -> None:
    stage.hook("user")
    with ModelServer([Script("begin", [counted])]) as server:
        run = stage.run(server, "begin")
    assert (run.code, run.calls) == (0, [])
    assert "hook" not in json.dumps(run.events)


def test_there_is_no_cap_on_blocks(stage: CodexStage) -> None:
    stage.hook("user")
    stage.recorder.reply(says(GO_ON, times=12, hook_event_name="Stop"))
    with ModelServer([Script("begin", [counted] * 13)]) as server:
        run = stage.run(server, "begin", UNTRUSTED_TOO)
        assert server.lost == []
    assert (run.code, len(run.told("Stop"))) == (0, 13)


def test_a_sub_agent_has_a_stop_of_its_own_and_its_tools_are_told_with_its_id(stage: CodexStage) -> None:
    stage.hook("user")
    denied = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Not you."}
    stage.recorder.reply(
        says(GO_ON, times=1, hook_event_name="SubagentStop"),
        says({"hookSpecificOutput": denied}, hook_event_name="PreToolUse", agent_type="default"),
    )

    def wait(exchange: Exchange) -> Call:
        child = json.loads(exchange.results[-1])["agent_id"]
        return Call(tool("multi_agent_v1.wait_agent", targets=[child], timeout_ms=20_000))

    scripts = [
        Script("work", [Call(ToolCall("apply_patch", PATCH)), counted, counted]),
        Script("begin", [Call(tool("multi_agent_v1.spawn_agent", message="work")), wait, Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, "begin", UNTRUSTED_TOO)
        assert server.lost == []
    (first, second) = run.told("SubagentStop")
    (own,) = run.told("Stop")
    assert (first["agent_type"], first["stop_hook_active"], second["stop_hook_active"]) == ("default", False, True)
    assert first["session_id"] == own["session_id"] == run.session != first["agent_id"]
    (patched,) = run.told("PreToolUse", tool_name="apply_patch")
    assert (patched["agent_id"], patched["tool_input"]) == (first["agent_id"], {"command": PATCH})
    assert not (stage.project / "hello.txt").exists()
    told = [text for record in server.played for text in record.exchange.results]
    assert any(text.startswith("Command blocked by PreToolUse hook: Not you.") for text in told)
