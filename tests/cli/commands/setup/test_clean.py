"""`aot clean` removes what runs left, says what, and leaves what is in use or somebody else's."""

from __future__ import annotations

import json
import os
from pathlib import Path

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, fails, scripted
from tests.runner.leftovers import kept, leftovers
from tests.runner.projects import Project, a_project, asleep


def a_project_with_a_failed_attempt(tmp_path: Path) -> Project:
    orders = {"A1": [fails("no", write={"half": "x"}), done({"a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    assert project.run().code == 0
    return project


def test_kept_attempts_are_removed_and_nothing_else_changes(tmp_path: Path) -> None:
    project = a_project_with_a_failed_attempt(tmp_path)
    project.git("branch", "mine")
    project.git("tag", "mine-too")
    before = project.state_file.read_bytes(), project.git("log", "main"), project.files()
    assert kept(project) == ["A1-1", "A1-2"]
    ran = project.aot("clean")
    assert (ran.code, ran.out) == (0, "✔ removed 2 kept attempts\n")
    assert project.git("for-each-ref", "refs/aot") == ""
    after = project.state_file.read_bytes(), project.git("log", "main"), project.files()
    assert after == before
    assert (project.root / ".aot" / "events.jsonl").exists()
    assert project.branches() == ["main", "mine"]
    assert not list((project.root / ".git").glob("aot*"))
    assert project.aot("clean").out == "✔ nothing to clean\n"


def test_journals_are_removed_only_if_that_is_asked_for(tmp_path: Path) -> None:
    project = a_project_with_a_failed_attempt(tmp_path)
    ran = project.aot("clean", "--journals", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == {
        "success": True,
        "refs": ["refs/aot/attempts/A1-1", "refs/aot/attempts/A1-2"],
        "worktrees": [],
        "in_use": [],
        "orphans": False,
        "journals": True,
    }
    assert not (project.root / ".aot").exists()
    assert project.loop.control.status == "completed"
    assert project.aot("status").code == 0


def test_what_a_killed_run_left_is_ended_and_removed_and_the_loop_can_go_on(tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    project = a_project(
        tmp_path,
        atom("A1", run=f"test -e {tmp_path}/go || sleep 9641; echo a > a"),
        base_case="test -f a",
        config=f'worktrees = "{elsewhere}"\n',
    )
    with project.running() as process:
        until(lambda: asleep(9641))
        process.kill()
        process.wait()
    assert len(project.worktrees()) == 1
    assert elsewhere.exists()
    ran = project.aot("clean")
    told = "✔ removed 1 worktree"  # processes may have ended before: they end soon after their run
    assert (ran.code, ran.out) in [(0, f"{told}\n"), (0, f"{told}; ended processes of a dead run\n")]
    assert asleep(9641) == []
    assert leftovers(project) == []
    assert not elsewhere.exists()
    (tmp_path / "go").touch()
    assert project.run().code == 0


def test_while_the_loop_is_being_run_nothing_is_removed(tmp_path: Path) -> None:
    orders = {"A1": [fails("no", write={"half": "x"}), done({"a": "a"}, after=str(tmp_path / "go"))]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    with project.running() as process:
        until(lambda: project.atom("A1").attempts == 1 and project.statuses()["A1"] == "in_progress")
        ran = project.aot("clean", "--journals", "--json")
        assert ran.code == 1
        assert f"process {process.pid} runs this loop" in json.loads(ran.out)["error"]
        assert "aot stop" in json.loads(ran.out)["hint"]
        assert kept(project) == ["A1-1"]
        assert (project.root / ".aot").exists()
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0


def test_what_another_loop_of_the_repository_uses_stays(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="exit 1"), base_case="false", constraints=Constraints(max_attempts=1))
    other = project.root / "other" / ".claude" / "aot-loop-state.md"
    other.parent.mkdir(parents=True)
    other.write_bytes(project.state_file.read_bytes().replace(b"exit 1", b"echo x > x; sleep 9642"))
    project.git("add", "--all")
    project.git("commit", "-qm", "two loops")
    process = project.start("run", "--yes", "--json", "--state-file", str(other))
    try:
        until(lambda: asleep(9642))
        ran = project.aot("clean", "--json")
        told = json.loads(ran.out)
        assert (ran.code, told["worktrees"], told["refs"]) == (0, [], [])
        assert [f"worktree {path}" for path in told["in_use"]] == project.worktrees()
        assert "another loop of this repository is running" in project.aot("clean").out
        assert asleep(9642)
    finally:
        process.terminate()
        process.communicate()
    assert asleep(9642) == []


def test_a_project_without_git_has_journals_to_clean_at_most(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a", git=False)
    assert project.run().code == 0
    assert project.aot("clean").out == "✔ nothing to clean\n"
    assert project.aot("clean", "--journals").out == "✔ removed the journals\n"
    assert (project.root / "a").exists()


def test_journals_that_are_a_link_are_not_followed(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    os.symlink(precious, project.root / ".aot")  # noqa: PTH211
    assert project.aot("clean", "--journals").code == 0
    assert (precious / "file").exists()


def test_without_a_state_file_it_says_so_and_a_file_with_mistakes_is_no_obstacle(tmp_path: Path) -> None:
    project = a_project_with_a_failed_attempt(tmp_path)
    project.state_file.write_text("---\nobjective: [\n---\n")
    assert project.aot("clean").out == "✔ removed 2 kept attempts\n"
    project.state_file.unlink()
    ran = project.aot("clean")
    assert ran.code == 1
    assert "there is no .claude/aot-loop-state.md" in ran.err
    assert "aot ship" not in ran.err
