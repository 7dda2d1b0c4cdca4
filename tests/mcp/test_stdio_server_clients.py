"""The real clients find the server, call its tools, and give the answers to the model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aotloop.app.plugin.mcp_entry import SERVER, add_to_codex, add_to_project
from aotloop.app.redirect.proposals import proposals_of
from aotloop.statefile.store import Store
from tests.loops import atom
from tests.modelserver import Answer, Call, ModelServer, Script, tool
from tests.modelserver.clients import CODEX, Launch, claude, codex, finished, needs_claude, needs_codex, there
from tests.runner.projects import Project, a_project

PROMPT = "Look at the loop"


def with_aot(launch: Launch) -> Launch:
    """As after an installation: `aot` is on PATH."""
    return Launch(
        command=launch.command, env={**launch.env, "PATH": f"{Path(sys.executable).parent}:{launch.env['PATH']}"}
    )


def stopped(tmp_path: Path) -> Project:
    project = a_project(tmp_path, atom("A1", run="false"), base_case="test -f b.txt")
    assert project.run("--max-total-attempts", "1").code != 0
    return project


def assert_proposed(project: Project, server: ModelServer, looked: int) -> None:
    """The model saw the answer of the first tool, and a person finds the proposal of the second."""
    assert server.lost == []
    assert b"It works" in server.played[looked + 1].request.body
    (proposal,) = proposals_of(Store(str(project.state_file)))
    assert proposal.wishes.retry == ("A1",)
    assert f'"{proposal.name}' in server.played[looked + 2].request.body.decode().replace("\\", "")


@needs_claude
def test_claude_code_looks_and_proposes(tmp_path: Path, own_home: Path) -> None:
    project = stopped(tmp_path)
    entry = add_to_project(project.root)
    look = tool(f"mcp__{SERVER}__status")
    propose = tool(f"mcp__{SERVER}__propose_correction", reason="once more", retry=["A1"])
    with ModelServer([Script(PROMPT, [Call(look), Call(propose), Answer({"done": True})])]) as server:
        launch = with_aot(claude(server, own_home, "--mcp-config", str(entry)))
        assert finished(launch, project.root, PROMPT).code == 0
        assert_proposed(project, server, 0)


@needs_codex
def test_codex_looks_and_proposes(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts servers in the background: a look at the resources waits until ours is there."""
    project = stopped(tmp_path)
    resources = tool("list_mcp_resources", server=SERVER)
    look = tool(f"mcp__{SERVER}.status")
    propose = tool(f"mcp__{SERVER}.propose_correction", reason="once more", retry=["A1"])
    turns = [Call(resources), Call(look), Call(propose), Answer({"done": True})]
    with ModelServer([Script(PROMPT, turns)]) as server:
        launch = with_aot(codex(server, own_home))
        monkeypatch.setenv("CODEX_HOME", launch.env["CODEX_HOME"])
        add_to_codex(str(there(CODEX)))
        assert finished(launch, project.root, PROMPT).code == 0
        assert b"aot://loop/graph.svg" in server.played[1].request.body
        assert_proposed(project, server, 1)
