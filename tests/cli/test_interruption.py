"""`aot stop`, `redirect` and `confirm` against a real `aot run` in a real repository."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from aotloop.core.model import BaseCase, Check, ChecklistItem
from aotloop.statefile.lease import holder_of
from tests.cli.terminal import terminal
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.projects import Project, a_project, processes_with

MENU = "Number: "


def slow(mark: str) -> str:
    """A command that would take an hour, and can be found among the processes."""
    return f"sh -c 'sleep 3600; true' {mark}"


def begun(project: Project, mark: str) -> None:
    until(lambda: project.statuses()["A1"] == "in_progress" and processes_with(mark))


def status_of(project: Project) -> str:
    return project.loop.control.status


@pytest.fixture
def mark(tmp_path: Path) -> str:
    return f"mark-{os.getpid()}-{tmp_path.name}"


@pytest.fixture
def project(tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One atom that takes an hour; the base case wants its file."""
    made = a_project(tmp_path, atom("A1", run=f"{slow(mark)}; touch a"), base_case="test -f a")
    monkeypatch.chdir(made.root)
    return made


# --- stop --------------------------------------------------------------------------------------------------------


def test_stop_ends_the_run_and_all_it_started(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        ran = project.aot("stop", "--reason", "enough")
        assert (ran.code, ran.out) == (0, "✔ the loop is stopped (user: enough)\n")
        assert process.wait(PATIENCE) == 7
    assert processes_with(mark) == []
    assert project.statuses() == {"A1": "pending"}


def test_stop_tidies_up_after_a_run_that_was_killed(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        process.kill()
        process.wait()
    ran = project.aot("stop")
    assert "no process was running it; A1 will be done again" in ran.out
    assert status_of(project) == "stopped"
    assert project.aot("clean").code == 0
    assert processes_with(mark) == []


# --- redirect ----------------------------------------------------------------------------------------------------


def test_a_correction_by_flags_interrupts_and_the_run_goes_on_with_it(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        words = ["--add", "quickly", "--id", "B1", "--run", "touch a", "--remove", "A1", "--set", "max_iterations=40"]
        ran = project.aot("redirect", *words, "--reason", "too slow", "--json")
        assert ran.code == 0, ran.err
        assert process.wait(PATIENCE) == 0
        out, _ = process.communicate()
    assert processes_with(mark) == []
    loop = project.loop
    assert status_of(project) == "completed"
    assert loop.objective.constraints.max_iterations == 40
    assert {one.description for one in loop.corrections} == {"too slow"}
    assert "blocked" not in out


def test_what_a_correction_of_a_stopped_loop_undoes_is_taken_back_by_the_next_run(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("B1", or_group="way", run="touch b1"),
        atom("B2", or_group="way", run="touch b2"),
        atom("A1", "B1", run="test -f b2 || sleep 3600; touch a"),
        base_case="test -f a",
    )
    with project.running():
        until(lambda: project.statuses()["A1"] == "in_progress")
        assert project.aot("stop").code == 0
    assert "b1" in project.files()
    ran = project.aot("redirect", "--choose", "way=B2")
    assert ran.out == "✔ way continues with B2 instead of B1; the results of B1 no longer count\n"
    assert project.run().code == 0
    assert project.files() == {"README.md", "b2", "a"}


def test_a_dialogue_interrupts_at_once_and_the_run_waits_for_its_end(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        with terminal("redirect") as screen:
            screen.wait_for(MENU)
            until(lambda: not processes_with(mark))
            screen.answer(
                (MENU, "3"),
                ("What has to be done? ", "quickly"),
                ("After which atoms?…) ", ""),
                ("As a choice of which group?…) ", ""),
                ("Which command does it?…) ", "touch a"),
                ("Apply it? [y/N] ", "y"),
                (MENU, "4"),
                ("Which one?…) ", "A1"),
                ("Apply it? [y/N] ", "y"),
                (MENU, "1"),
                ("Which part?…) ", "goal"),
                ("What should it be? ", "It flies"),
                ("Apply it? [y/N] ", "y"),
            )
            screen.wait_for(MENU)
            assert process.poll() is None
            assert status_of(project) == "running"
            assert not (project.root / "a").exists()
            screen.type("\n")
            assert screen.end() == 0
        assert f"process {process.pid} continues with this" in screen.text
        assert process.wait(PATIENCE) == 0
    assert status_of(project) == "completed"
    assert project.loop.objective.goal == "It flies"
    assert len(project.loop.corrections) == 3


def test_a_dialogue_that_is_killed_does_not_keep_the_run_waiting(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        with terminal("redirect") as screen:
            screen.wait_for(MENU)
            until(lambda: not processes_with(mark))
            holder = holder_of(str(project.state_file), "redirect")
            assert holder is not None
            assert holder.pid is not None
            os.kill(holder.pid, signal.SIGKILL)
            screen.end()
        begun(project, mark)  # once more, from the beginning
        assert not project.loop.control.redirect_requested
        assert process.poll() is None
        assert project.aot("stop").code == 0
        assert process.wait(PATIENCE) == 7
    assert processes_with(mark) == []


def test_stop_overrides_an_open_dialogue(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        with terminal("redirect") as screen:
            screen.wait_for(MENU)
            assert project.aot("stop", "--reason", "enough").code == 0
            assert process.wait(PATIENCE) == 7
            screen.type("\n")
            assert screen.end() == 0
    control = project.loop.control
    assert (control.status, control.stop_reason, control.redirect_requested) == ("stopped", "user: enough", False)


def test_what_was_changed_behind_its_back_stops_the_run_until_it_is_accepted(project: Project, mark: str) -> None:
    with project.running() as process:
        begun(project, mark)
        path = project.state_file
        path.write_text(path.read_text().replace('value: "test -f a"', 'value: "true"'))
        assert process.wait(PATIENCE) == 6
    assert project.run().code == 6
    accepted = project.aot("redirect", "--accept")
    assert accepted.code == 0
    assert '+base_case.checklist[0].check.value: "true"' in accepted.out
    assert project.run().code == 0


# --- confirm -----------------------------------------------------------------------------------------------------


def judged(tmp_path: Path, run: str) -> Project:
    item = ChecklistItem(item="nice", check=Check(type="assertion", value="it is nice"))
    return a_project(tmp_path, atom("A1", run=run), base_case=BaseCase(checklist=(item,)))


def test_a_run_that_waits_for_a_person_is_completed_by_one(tmp_path: Path) -> None:
    project = judged(tmp_path, "touch a")
    assert project.run().code == 6
    assert status_of(project) == "stopped"
    assert project.aot("confirm").code == 6
    assert project.aot("confirm", "nice").code == 0
    assert status_of(project) == "completed"


def test_what_was_confirmed_before_lets_a_run_complete_by_itself(tmp_path: Path) -> None:
    project = judged(tmp_path, "true")  # changes no file, so that what is looked at stays what it is
    assert project.aot("confirm", "nice", "--yes").code == 0
    assert status_of(project) == "pending"
    assert project.run().code == 0
    assert status_of(project) == "completed"


def test_what_a_person_rejects_is_work_for_the_next_run(tmp_path: Path) -> None:
    project = judged(tmp_path, "touch a")
    assert project.run().code == 6
    assert project.aot("confirm", "--reject", "nice", "--reason", "no flowers").code == 1
    assert project.statuses() == {"A1": "resolved", "A2": "pending"}
    assert "no flowers" in project.atom("A2").description
    refused = project.run().err
    assert "there is no agent to do: A2" in refused  # a command cannot mend what a person sees
    assert "`aot redirect --remove A2` takes one out" in refused
