"""Whole runs, from the command to the last commit: how they go, and what they leave."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.patience import PATIENCE, shell_until_there, until
from tests.runner.projects import a_project, asleep, commands


def test_atoms_are_done_in_parallel_and_reach_the_branch_as_commits(tmp_path: Path) -> None:
    def meets(mine: int, other: int) -> str:
        return f"touch {tmp_path}/{mine}; {shell_until_there(tmp_path / str(other))}"

    project = a_project(
        tmp_path,
        atom("A1", run=meets(1, 2) + " && echo a > a.txt"),
        atom("A2", run=meets(2, 1) + " && echo b > b.txt"),
        atom("A3", "A1", "A2", run="cat a.txt b.txt > c.txt; echo all of it"),
        base_case='test "$(cat c.txt)" = "$(printf \'a\\nb\')"',
    )
    ran = project.run()
    assert (ran.code, ran.err) == (0, "")
    assert project.loop.control.status == "completed"
    assert sorted(project.subjects()[:2]) == ["A1: do A1", "A2: do A2"]
    assert project.subjects()[2:] == ["A3: do A3"]
    assert project.loop.bindings["A3"].summary == "all of it"
    assert project.is_clean()
    assert project.worktrees() == []
    assert project.branches() == ["main"]


def test_a_choice_that_fails_its_check_gives_way_and_leaves_nothing(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo unrelated > other.txt"),
        atom("P", or_group="G", run="echo first > p.txt"),
        atom("Q", or_group="G", run="echo second > q.txt"),
        atom("D", "P", run="ls > d.txt", check=AtomCheck(type="file", value="q.txt")),
        base_case="test -f q.txt -a -f d.txt",
        constraints=Constraints(max_attempts=1),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.files() == {"README.md", "other.txt", "q.txt", "d.txt"}
    assert "Take back P" in project.subjects()
    assert project.loop.or_groups["G"].selected == "Q"
    assert project.is_clean()
    assert project.worktrees() == []


def test_without_anybody_to_repair_it_another_choice_is_taken(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo bad > out.txt"),
        atom("Q", or_group="G", run="echo good > out.txt"),
        base_case="grep -q good out.txt",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.loop.or_groups["G"].selected == "Q"
    assert (project.root / "out.txt").read_text() == "good\n"


def test_without_anybody_to_repair_it_and_any_other_choice_a_person_is_told_what_is_missing(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("P", run="echo bad > out.txt"), base_case="grep -q good out.txt")
    ran = project.run()
    assert ran.code == 6, ran.out
    reason = "blocked: A1: there is no agent to do it: --agent names one, or `agent` in aot.toml"
    assert project.loop.control.stop_reason == reason
    assert project.statuses() == {"P": "resolved", "A1": "pending"}


def test_what_cannot_be_done_ends_with_a_reason(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo no; exit 3"), atom("A2", run="echo x > x"), base_case="false")
    ran = project.run()
    assert ran.code == 4, ran.out
    control = project.loop.control
    assert control.status == "stopped"
    assert control.stop_reason == "exhausted: nothing can start; not resolved: A1"
    assert project.statuses() == {"A1": "pending", "A2": "resolved"}
    assert "exit 3" in project.loop.trail[0].reason


def test_an_agent_decomposes_its_atom_and_does_the_parts(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    config = f'agent = "scripted"\n[agents.scripted]\nargv = ["{sys.executable}", "{agent}", "{{prompt_file}}"]\n'
    project = a_project(
        tmp_path,
        atom("A1", description="write both", check=AtomCheck(type="command", value="test -f one -a -f two")),
        base_case="test -f one -a -f two",
        config=config,
    )
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.files() == {"README.md", "aot.toml", "one", "two"}
    assert set(project.statuses().values()) == {"resolved"}


AGENT = """
import json, os, pathlib, sys
prompt = pathlib.Path(sys.argv[1]).read_text()
if "> write both" in prompt:
    parts = [{"description": "write one"}, {"description": "write two"}]
    print(json.dumps({"success": False, "bindings_delta": {"summary": "", "artifacts": []}, "artifacts": [],
                      "reason": "two things", "proposal": {"reason": "two things", "children": parts}}))
else:
    name = "one" if "> write one" in prompt else "two"
    pathlib.Path(name).write_text(name)
    print(json.dumps({"success": True, "bindings_delta": {"summary": "wrote " + name, "artifacts": [name]},
                      "artifacts": [name], "reason": ""}))
"""


def test_stop_ends_everything_and_run_goes_on(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run=f"test -f {tmp_path}/go || sleep 9377; echo a > a"), base_case="test -f a"
    )
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "in_progress" and asleep(9377))
        project.aot("stop", "--reason", "lunch")
        assert process.wait(PATIENCE) == 7
    assert project.loop.control.stop_reason == "user: lunch"
    assert project.statuses() == {"A1": "pending"}
    assert asleep(9377) == []
    (tmp_path / "go").touch()
    assert project.run().code == 0


def test_a_runner_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo a > a; echo x >> {tmp_path}/times"),
        atom("A2", run=f"test -f {tmp_path}/go || sleep 9378; echo b > b"),
        base_case=commands("test -f a", "test -f b"),
    )
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "resolved" and asleep(9378))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert project.loop.control.status == "running"
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert asleep(9378) == []
    assert (tmp_path / "times").read_text() == "x\n"
    assert project.worktrees() == []


def test_a_second_run_is_told_who_runs(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="sleep 9379"), base_case="false")
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "in_progress")
        second = project.run()
        assert second.code == 3
        assert f"process {process.pid} runs this loop" in second.err
        assert project.aot("stop").code == 0
        assert process.wait(PATIENCE) == 7
    assert asleep(9379) == []


def test_interrupted_from_the_keyboard_it_stops_in_order(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="sleep 9380"), base_case="false")
    with project.running() as process:
        until(lambda: project.statuses()["A1"] == "in_progress")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert project.loop.control.status == "stopped"
    assert project.loop.control.stop_reason == "user: interrupted by SIGINT"
    assert asleep(9380) == []
