"""The real clients find the server, call its tools, and give the answers to the model."""

from __future__ import annotations

import sys
from collections.abc import Callable
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


CALLS: list[tuple[str, dict[str, object], str]] = [
    ("list_loops", {}, "It works"),
    ("status", {}, "atoms_in_all"),
    ("graph", {"form": "mermaid"}, "flowchart"),
    ("atom", {"name": "A1"}, "A1#1"),
    ("log", {"last": 50}, "failure"),
    ("transcript", {"attempt": "A1#1"}, "steps"),
    ("verify_base_case", {}, "passed"),
    ("request_to_stop", {"reason": "why not"}, "nothing to stop"),
    ("add_atom_to_draft", {"description": "tea"}, "has begun"),
    ("propose_correction", {"reason": "once more", "retry": ["A1"]}, "waits_for"),
]
"""Each tool, its arguments, and what the model must read in the answer."""


def turns(name_of: Callable[[str], str]) -> list[Call]:
    return [Call(tool(name_of(name), **arguments)) for name, arguments, _ in CALLS]


def assert_answered(project: Project, server: ModelServer, before: int) -> None:
    """The model saw the answer of every tool, and a person finds the proposal, which changed nothing."""
    assert server.lost == []
    for number, (name, _, answer) in enumerate(CALLS, before + 1):
        assert answer in server.played[number].request.body.decode(), name
    store = Store(str(project.state_file))
    (proposal,) = proposals_of(store)
    assert proposal.wishes.retry == ("A1",)
    assert f'"{proposal.name}' in server.played[-1].request.body.decode().replace("\\", "")
    assert store.load().corrections == []


@needs_claude
def test_claude_code_calls_every_tool(tmp_path: Path, own_home: Path) -> None:
    project = stopped(tmp_path)
    entry = add_to_project(project.root)
    asked = turns(lambda name: f"mcp__{SERVER}__{name}")
    with ModelServer([Script(PROMPT, [*asked, Answer({"done": True})])]) as server:
        launch = with_aot(claude(server, own_home, "--mcp-config", str(entry)))
        assert finished(launch, project.root, PROMPT).code == 0
        assert_answered(project, server, 0)


@needs_codex
def test_codex_calls_every_tool(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts servers in the background: a look at the resources waits until ours is there."""
    project = stopped(tmp_path)
    resources = tool("list_mcp_resources", server=SERVER)
    asked = turns(lambda name: f"mcp__{SERVER}.{name}")
    with ModelServer([Script(PROMPT, [Call(resources), *asked, Answer({"done": True})])]) as server:
        launch = with_aot(codex(server, own_home))
        monkeypatch.setenv("CODEX_HOME", launch.env["CODEX_HOME"])
        add_to_codex(str(there(CODEX)))
        assert finished(launch, project.root, PROMPT).code == 0
        assert b"aot://loop/graph.svg" in server.played[1].request.body
        assert_answered(project, server, 1)
