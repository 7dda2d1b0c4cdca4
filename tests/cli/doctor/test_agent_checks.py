"""The doctor names each agent: its program, version, login and abilities; and whether the loop needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.agents.codex.backend import INSTALL
from tests.cli.doctor.findings import a_client, found
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def test_an_agent_that_is_configured_and_not_there_is_a_problem(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    (project / "aot.toml").write_text('agent = "mine"\n')
    told = found()
    assert told["default agent"]["said"] == "mine"
    assert told["mine"]["ok"] is False
    assert "there is no agent 'mine'" in told["mine"]["said"]
    (project / "aot.toml").write_text("agent = [\n")
    broken = found()
    assert broken["configuration"]["ok"] is False
    assert "aot.toml" in broken["configuration"]["said"]


@pytest.mark.usefixtures("project")
def test_what_a_backend_can_do_is_said() -> None:
    said = found()["shell"]["said"]
    assert "emulated: structured output, interrupt" in said
    assert "missing: " in said


def test_a_client_is_told_with_version_login_and_what_it_can_do(
    project: Path, clients: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = a_client(clients, "codex", "codex-cli 0.166.3")
    (project / "aot.toml").write_text('agent = "codex"\n')
    told = found()["codex"]
    assert told["ok"] is None
    assert told["said"].startswith(f"0.166.3; {program}; no login: none of CODEX_API_KEY, OPENAI_API_KEY is set")
    assert (
        "native: structured output, tool restriction, sessions; emulated: interrupt; missing: cost report"
        in told["said"]
    )
    assert "codex login" in told["fix"]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123")
    ran = aot("doctor", "--json")
    assert "sk-canary-0123" not in ran.out
    told = next(one for one in ran.json["findings"] if one["what"] == "codex")
    assert (told["ok"], told["fix"]) == (True, None)
    able = told["facts"].pop("capabilities")
    assert (able["structured_output"], able["cost_report"]) == ("native", "missing")
    assert told["facts"] == {
        "kind": "codex",
        "used": True,
        "program": str(program),
        "version": "0.166.3",
        "login": "yes",
    }
    assert list(own_home.iterdir()) == []


def test_a_client_that_is_not_there_is_a_problem_only_if_it_is_used(project: Path, clients: Path) -> None:
    told = found()["codex"]
    assert (told["ok"], told["fix"]) == (None, INSTALL)
    assert told["said"].startswith("there is no program codex")
    write_loop(project, a_loop(atom("A1", agent="codex"), status="pending"))
    told = found()
    assert told["codex"]["ok"] is False
    assert told["Node.js"]["ok"] is None
    assert told["Node.js"]["said"] == "not found; its npm can install codex"
    assert aot("doctor").code == 1
    write_loop(project, a_loop(atom("A1", agent="codex", status="resolved"), status="pending"))
    assert found()["codex"]["ok"] is None
    a_client(clients, "codex", "0.166.0")
    write_loop(project, a_loop(atom("A1", agent="codex"), status="pending"))
    assert found()["codex"]["ok"] is None, "there, and not logged in"


def test_an_agent_that_is_asked_in_the_place_of_another_is_used(project: Path, clients: Path) -> None:
    assert clients.exists()
    (project / "aot.toml").write_text('agent = "claude"\nfallback = ["codex"]\n')
    write_loop(project, a_loop(atom("A1"), status="pending"))
    assert found()["codex"]["ok"] is False


def test_a_version_that_was_never_tested_is_told(clients: Path, project: Path) -> None:
    assert project.exists()
    a_client(clients, "opencode", "0.3.1")
    told = found()["opencode"]
    assert told["ok"] is None
    assert told["said"].startswith("0.3.1 is older than what was tested (1.18)")


def test_a_client_that_runs_on_node_needs_it(clients: Path, project: Path) -> None:
    (project / "aot.toml").write_text('agent = "codex"\n')
    script = clients / "codex"
    script.write_text("#!/usr/bin/env node\n")
    script.chmod(0o755)
    told = found()
    assert told["Node.js"]["ok"] is False
    assert told["Node.js"]["said"] == "not found; codex needs it"
    assert "nodejs.org" in told["Node.js"]["fix"]
    a_client(clients, "node", "v22.1.0")
    assert found()["Node.js"]["said"] == f"22.1.0; {clients / 'node'}; codex needs it"


def test_a_client_and_a_node_of_a_project_are_told_without_their_versions(
    clients: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "aot.toml").write_text('agent = "codex"\n')
    (project / "node_modules").mkdir()
    codex = a_client(project / "node_modules/.bin", "codex", "0.166.3")
    codex.write_text("#!/usr/bin/env node\n")
    a_client(codex.parent, "node", "v22.1.0")
    monkeypatch.setenv("PATH", f"{codex.parent}:{clients}")
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    told = found()
    assert f"is not asked for its version, because agents can change {codex}" in told["codex"]["said"]
    assert (told["codex"]["ok"], told["codex"]["fix"]) == (
        *(None, "It may work. An installation outside of projects is safer."),
    )
    assert "because agents can change" in told["Node.js"]["said"]


def test_agents_known_to_speak_acp_are_told_found_or_not(clients: Path, project: Path) -> None:
    assert project.exists()
    a_client(clients, "goose", "1.0.0")
    told = found()["known to speak ACP"]
    assert told["said"] == "found: goose; not found: gemini, qwen, claude-code-acp, codex-acp"
