"""The plugin's agents in the real client: they are found, have the tools of their role, and workers a tree each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.runs import commit, heard, push
from tests.plugin.stage import Stage, is_session

pytestmark = needs_claude

PLUGIN = Path(__file__).parents[2] / "plugin"
WRITING = {"Write", "Edit", "NotebookEdit"}
WHERE = "git rev-parse --path-format=absolute --git-dir --git-common-dir HEAD"


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
    push(stage.project)
    commit(stage.project, "not pushed")
    seen: list[str] = []

    def go_there(exchange: Exchange) -> Call:
        own, common, old = exchange.results[-1].split()
        assert own != common
        seen.append(old)
        return Call(tool("Bash", command="git reset -q --hard main && git log --format=%s -1", description="go"))

    scripts = [
        Script(is_role("worker"), [Call(tool("Bash", command=WHERE, description="where")), go_there, Say("{}")]),
        Script(is_session, [start("worker", is_role("worker")), Say("done")]),
    ]
    with ModelServer(scripts) as server:
        stage.run(server, "Begin", plugins=[PLUGIN])
        last = heard(server, is_role("worker"))[-1].results[-1]
    assert WHERE in (PLUGIN / "agents" / "worker.md").read_text(), "what the worker is told is what was tried"
    assert (len(seen), last.strip()) == (1, "not pushed")
