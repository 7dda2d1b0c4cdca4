"""The plugin's agents in the real client: they are found, have the tools of their role, and workers a tree each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.situations import driven
from tests.loops import atom, write_loop
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.runs import commit, heard, push
from tests.plugin.stage import Stage, is_session
from tests.plugin.test_session import Step

pytestmark = needs_claude

PLUGIN = Path(__file__).parents[2] / "plugin"
WRITING = {"Write", "Edit", "NotebookEdit"}


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def start(name: str, prompt: str) -> Call:
    words = {"description": name, "prompt": prompt, "subagent_type": f"aot-loop:{name}"}
    return Call(tool("Agent", **words, run_in_background=False))


def is_role(name: str) -> str:
    return f"Be the {name}."


def the(server: ModelServer, name: str) -> Exchange:
    return heard(server, is_role(name))[0]


def test_every_agent_is_found_and_has_the_tools_of_its_role(stage: Stage) -> None:
    others = ("probe", "worker", "verifier")
    scripts = [
        *(Script(is_role(name), [Say("{}")]) for name in others),
        Script(is_role("coordinator"), [*(start(name, is_role(name)) for name in others), Say("ended")]),
        Script(is_session, [start("coordinator", is_role("coordinator")), Say("done")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, "Begin", plugins=[PLUGIN])
        assert server.lost == []
    assert run.code == 0
    tools = {name: set(the(server, name).tools) for name in ("coordinator", *others)}
    assert {"Bash", "Read", "Agent"} <= tools["coordinator"]
    assert {"Bash", "Read", "Write", "Edit"} <= tools["worker"]
    assert tools["verifier"] == {"Bash", "Read"}
    assert "Bash" not in tools["probe"]
    assert not any(tools[name] & WRITING for name in ("coordinator", "probe", "verifier"))
    assert f"python3 {PLUGIN}/skills/state-contract/scripts/read_state.py" in the(server, "coordinator").system


def test_a_worker_gets_from_an_old_commit_to_the_one_it_is_told(stage: Stage) -> None:
    """With a remote, the client begins its worktree from what was pushed: docs/development/plugin-facts.md."""
    write_loop(stage.project, driven(atom("A1")))
    push(stage.project)
    commit(stage.project, "not pushed")
    ask = f"python3 {PLUGIN}/skills/state-contract/scripts/read_state.py --atom A1"
    seen: list[dict[str, Any]] = []

    def go_there(exchange: Exchange) -> Call:
        told = json.loads(exchange.results[-1])
        seen.append(told)
        return Call(tool("Bash", command=f"{told['first_run']} -q && git log --format=%s -1", description="go"))

    again = Call(tool("Bash", command=ask, description="once more"))
    turns: list[Step] = [Call(tool("Bash", command=ask, description="look")), go_there, again, Say("{}")]
    scripts = [Script(is_role("worker"), turns), Script(is_session, [start("worker", is_role("worker")), Say("done")])]
    with ModelServer(scripts) as server:
        stage.run(server, "Begin", plugins=[PLUGIN])
        assert server.lost == []
        results = heard(server, is_role("worker"))[-1].results
    assert (len(seen), seen[0]["own_worktree"], results[1].strip()) == (1, True, "not pushed")
    assert "first_run" not in json.loads(results[2]), "it is where it should be"
