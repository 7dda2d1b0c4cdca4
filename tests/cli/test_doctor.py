"""`aot doctor` says what is there, what is missing, and what to do about it; it changes nothing."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.acp_presets import PRESETS
from aotloop.agents.codex import INSTALL
from aotloop.cli.doctoring.extras import _extra
from tests.cli.terminal import aot
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop


def found(*words: str) -> dict[str, dict[str, Any]]:
    return {one["what"]: one for one in aot("doctor", *words, "--json").json["findings"]}


def test_a_machine_with_all_it_needs_is_fine(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", run="true"), status="pending"))
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=project, check=True)
    ran = aot("doctor")
    assert ran.code == 0
    assert "✔ git: 2." in ran.out
    assert "✔ state file: " in ran.out
    assert f"✔ repository: {project.resolve()} on main" in ran.out
    assert "✔ shell: " in ran.out
    assert ran.err == "Next: aot run\n"


@pytest.mark.usefixtures("project")
def test_it_works_where_there_is_no_loop() -> None:
    told = found()
    assert told["state file"]["ok"] is None
    assert told["state file"]["fix"] == "`aot align` makes one."
    ran = aot("doctor")
    assert ran.code == 0
    assert ran.err == "Next: aot align\n"


def test_a_file_with_mistakes_is_a_problem(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", "A9"), status="pending"))
    before = path.read_bytes()
    assert found()["state file"]["ok"] is False
    assert aot("doctor").code == 1
    assert path.read_bytes() == before


def test_a_machine_without_git_is_told_so(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    monkeypatch.setenv("PATH", str(tmp_path))
    told = found()
    assert (told["git"]["ok"], told["git"]["fix"]) == (False, "Install git 2.38 or newer.")


def test_whoever_runs_the_loop_is_named(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    assert found()["run"]["fix"] == "`aot run` goes on where it was."
    with held_by_another(path) as other:
        assert found()["run"]["said"].startswith(f"process {other.pid} runs it")


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


def a_client(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
    (folder / name).chmod(0o755)
    return folder / name


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found, with git in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "echo"):
        path = next(Path(one, name) for one in os.environ["PATH"].split(":") if Path(one, name).exists())
        (folder / name).symlink_to(path.resolve())
    monkeypatch.setenv("PATH", str(folder))
    for name in {key for preset in PRESETS.values() for key in preset.keys}:
        monkeypatch.delenv(name, raising=False)
    return folder


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
    assert told["Node.js"]["said"] == "not found; with its npm, codex can be installed"
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
    assert told["Node.js"]["said"] == "not found; codex runs on it"
    assert "nodejs.org" in told["Node.js"]["fix"]
    a_client(clients, "node", "v22.1.0")
    assert found()["Node.js"]["said"] == f"22.1.0; {clients / 'node'}; codex runs on it"


def test_agents_known_to_speak_acp_are_told_found_or_not(clients: Path, project: Path) -> None:
    assert project.exists()
    a_client(clients, "goose", "1.0.0")
    told = found()["known to speak ACP"]
    assert told["said"] == "found: goose; not found: gemini, qwen, claude-code-acp, codex-acp"


def test_extras_are_told_with_how_to_install_them(project: Path) -> None:
    assert project.exists()
    told = found()
    assert "aotloop[dev]" not in told
    extra = told["aotloop[claude]"]
    assert extra["said"].startswith("claude-agent-sdk ") or "pip install 'aotloop[claude]'" in extra["fix"]
    missing = _extra("claude", ["no-such-package-anywhere", "msgspec"])
    assert (missing.ok, missing.said) == (None, "not installed: no-such-package-anywhere")
    assert missing.fix == "Only if you want it: pip install 'aotloop[claude]'"


def test_what_can_confine_commands_is_told_and_is_in_nobodys_way(project: Path, clients: Path) -> None:
    assert project.exists()
    told = {one["what"]: one for one in aot("doctor", "--json").json["findings"] if one["about"] == "sandbox"}
    assert set(told) == {"the checkout", "commands of Codex", "commands of Claude Code"}
    assert told["commands of Claude Code"]["said"].endswith("which needs bwrap and socat")
    assert told["commands of Codex"]["ok"] is None, "without `unshare` it cannot be told"
    a_client(clients, "unshare", "")
    assert found()["commands of Codex"]["ok"] is True
    (clients / "unshare").write_text("#!/bin/sh\nexit 1\n")
    forbidden = found()["commands of Codex"]
    assert forbidden["ok"] is None
    assert "user namespaces" in forbidden["fix"]
    assert aot("doctor").code == 0


def test_an_old_lock_of_git_is_a_problem_and_a_young_one_is_not(project: Path, own_home: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    lock = project / ".git" / "index.lock"
    lock.touch()
    told = found()
    assert "index.lock" in told["git's lock"]["said"]
    assert told["git's lock"]["ok"] is None
    assert "worktrees" not in told
    assert list(own_home.iterdir()) == []
    long_ago = time.time() - 7300
    os.utime(lock, (long_ago, long_ago))
    told = found()
    assert told["git's lock"]["ok"] is False
    assert re.search(r"for 2h \d\dm$", told["git's lock"]["said"])


def test_what_dead_processes_left_beside_the_state_file_is_told(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    told = found()
    assert not {one for one in told if told[one]["about"] == "leftovers"}
    lease = path.with_name(f".{path.name}.run")
    lease.write_text('{"pid": 1, "since": ""}')
    path.with_name(f".{path.name}.tmp").write_text("half")
    told = found()
    assert told["lock (run)"]["ok"] is None
    assert str(lease) in told["lock (run)"]["said"]
    assert "never finished" in told["half a state file"]["said"]
    assert aot("doctor").code == 0
    with held_by_another(path):
        assert "lock (run)" not in found()


def test_worktrees_and_kept_attempts_of_earlier_runs_are_counted(project: Path, own_home: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=project, check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], cwd=project, check=True)
    for number in (1, 2):
        subprocess.run([*git, "update-ref", f"refs/aot/attempts/A{number}", "HEAD"], cwd=project, check=True)
    pool = own_home / "elsewhere"
    pool.mkdir()
    (pool / "aot-0123456789.lock").touch()
    (project / "aot.toml").write_text(f'worktrees = "{pool}"\n')
    told = found()
    assert told["kept attempts"]["said"].startswith("2 attempts ")
    assert "`git show refs/aot/attempts/A1`" in told["kept attempts"]["fix"]
    assert told["worktrees"]["said"].startswith("1 worktree of earlier runs")
    with held_by_another(path):
        assert "worktrees" not in found()
