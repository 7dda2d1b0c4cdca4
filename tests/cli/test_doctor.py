"""`aot doctor` says what is there, what is missing, and what to do about it; it changes nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.usefixtures("project")
def test_it_works_where_there_is_no_loop() -> None:
    told = found()
    assert told["state file"]["ok"] is None
    assert told["state file"]["fix"] == "`aot init` makes one."
    assert aot("doctor").code == 0


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
    (project / "aot.toml").write_text("agent = [\n")
    broken = found()
    assert broken["configuration"]["ok"] is False
    assert "aot.toml" in broken["configuration"]["said"]


@pytest.mark.usefixtures("project")
def test_what_a_backend_can_do_is_said() -> None:
    said = found()["shell"]["said"]
    assert "emulated: structured output, interrupt" in said
    assert "missing: " in said


def test_worktrees_that_were_left_and_a_lock_of_git_are_told(project: Path, own_home: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    (project / ".git" / "index.lock").touch()
    told = found()
    assert "index.lock" in told["git's lock"]["said"]
    assert told["git's lock"]["ok"] is None
    assert "worktrees" not in told
    assert list(own_home.iterdir()) == []
