"""Worktrees that agents of a session left: `aot clean` removes those of this loop, and never any work."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.terminal import spawn
from tests.loops import a_loop, atom, write_loop
from tests.plugin.runs import a_repository
from tests.scripts.calling import call


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = a_repository(tmp_path / "project")
    monkeypatch.chdir(folder)
    write_loop(folder, a_loop(atom("A1"), status="stopped"))
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def worktree(project: Path, name: str, *, is_ours: bool = True) -> Path:
    """As the client makes one for an agent; the first thing that a worker of a loop does is to ask for its atom."""
    path = project / ".claude" / "worktrees" / name
    git(project, "worktree", "add", "-q", "-b", f"worktree-{name}", str(path))
    if is_ours:
        assert call("read_state", "--atom", "A1", cwd=path)["own_worktree"] is True
    return path


def test_worktrees_left_behind_by_agents_of_the_loop_are_removed_with_their_branches(project: Path) -> None:
    ours, foreign = worktree(project, "agent-a1"), worktree(project, "agent-b2", is_ours=False)
    told = spawn("clean", "--json").json
    assert told["worktrees"] == [str(ours)]
    assert not ours.exists()
    assert foreign.exists(), "an agent that has nothing to do with the loop"
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main", "worktree-agent-b2"]


def test_work_that_is_not_on_the_branch_stays_and_is_named(project: Path) -> None:
    edited, committed, untouched = (worktree(project, f"agent-{one}") for one in ("c1", "c2", "c3"))
    (edited / "new.txt").write_text("x")
    git(committed, "commit", "-q", "--allow-empty", "-m", "mine")
    done = spawn("clean")
    assert (edited / "new.txt").exists()
    assert committed.exists()
    assert not untouched.exists()
    said = " ".join(done.out.split())
    assert "removed 1 worktree" in said
    assert "have work that is not on the branch, so they stay" in said
    assert json.loads(spawn("clean", "--json").out)["unkept"] == [str(edited), str(committed)]


def test_while_a_session_drives_the_loop_its_worktrees_stay(project: Path) -> None:
    ours, locked = worktree(project, "agent-d1"), worktree(project, "agent-d2")
    git(project, "worktree", "lock", str(locked))
    write_loop(project, a_loop(atom("A1"), status="running"))
    assert spawn("clean").code == 0
    assert ours.exists()
    write_loop(project, a_loop(atom("A1"), status="completed"))
    assert spawn("clean", "--json").json["worktrees"] == [str(ours)]
    assert locked.exists()
