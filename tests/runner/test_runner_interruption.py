"""Stop and redirect, while a loop runs and while it does not: obeyed at once, and nothing older ever counts."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import AtomCheck, Constraints, Loop
from aotloop.statefile.lease import holder_of
from tests.cli.terminal import terminal
from tests.loops import atom
from tests.patience import PATIENCE, give_way, shell_until_there, until
from tests.runner.agents import ANYBODY, done, fails, scripted, times_asked
from tests.runner.leftovers import kept, leftovers
from tests.runner.projects import Project, a_project, commands
from tests.runner.stubborn import AGENTS, all_up, interrupt, of_run, stubborn_project

LIMIT = ("redirect", "--set", "max_iterations=41")


def waits_for(path: Path, then: str = "true") -> str:
    return f"{shell_until_there(path)}; {then}"


def is_at(project: Project, name: str) -> bool:
    return project.statuses().get(name) == "in_progress"


def ended(project: Project) -> list[str]:
    """Atoms whose attempts were cancelled and are over, in this order."""
    return [one["atom"] for one in project.news() if one["kind"] == "attempt_ended" and one["outcome"] == "cancelled"]


# --- at once -----------------------------------------------------------------------------------------------------


def test_a_redirect_ends_everything(tmp_path: Path) -> None:
    """Eight agents go on at SIGTERM, and have children, sessions and daemons of their own. When it is said that they
    have ended, they have; how soon that is, `make bench` says.
    """
    project = stubborn_project(tmp_path)
    with all_up(project) as process:
        before = of_run(project)
        assert project.aot(*LIMIT).code == 0
        until(lambda: len(ended(project)) == AGENTS)
        assert not before & of_run(project)
        interrupt(process)
        assert process.wait(PATIENCE) == 130
    assert leftovers(project) == []


def test_a_stop_ends_everything_when_it_has_been_asked_to_end(tmp_path: Path) -> None:
    project = stubborn_project(tmp_path)
    with all_up(project) as process:
        assert project.aot("stop").code == 0
        assert of_run(project) == set()
        assert process.wait(PATIENCE) == 7
    assert len(list(tmp_path.glob("told-*"))) == AGENTS  # each was told, and went on until it was killed
    assert sorted(ended(project)) == [f"A{number}" for number in range(AGENTS)]
    assert leftovers(project) == []


def test_what_is_told_to_stop_may_end_in_its_own_way(tmp_path: Path) -> None:
    farewell = f"trap 'touch {tmp_path}/farewell; exit' TERM; touch {tmp_path}/up; while :; do sleep 0.02; done"
    project = a_project(tmp_path, atom("A1", run=farewell), base_case="false")
    with project.running() as process:
        until((tmp_path / "up").exists)
        assert project.aot("stop").code == 0
        assert (tmp_path / "farewell").exists()
        assert process.wait(PATIENCE) == 7
    assert leftovers(project) == []


def test_however_often_it_is_interrupted_nothing_is_left(tmp_path: Path) -> None:
    project = stubborn_project(tmp_path)
    with all_up(project) as process:
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            give_way(0.01)
        assert process.returncode in {130, -signal.SIGINT}
    assert project.loop.control.stop_reason == "user: interrupted by SIGINT"
    assert leftovers(project) == []


def test_who_ends_when_told_is_not_waited_for(tmp_path: Path) -> None:
    """It has ended while another one still has its grace."""
    stays = f"trap '' TERM; touch {tmp_path}/up; while :; do sleep 3600; done"
    project = a_project(
        tmp_path,
        atom("A1", run=stays),
        atom("A2", run=waits_for(tmp_path / "never")),
        base_case="false",
    )
    with project.running() as process:
        until(lambda: is_at(project, "A1") and is_at(project, "A2") and (tmp_path / "up").exists())
        assert project.aot("stop").code == 0
        assert process.wait(PATIENCE) == 7
    assert ended(project) == ["A2", "A1"]


def test_a_redirect_ends_the_check_of_the_base_case(tmp_path: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run="echo a > a"), base_case=f"test -f {tmp_path}/go || sleep 3600; test -f a"
    )
    with project.running() as process:
        checking = until(lambda: of_run(project))
        (tmp_path / "go").touch()
        assert project.aot(*LIMIT).code == 0
        until(lambda: not checking & of_run(project))  # by itself, none of them ends while this is waited for
        assert process.wait(PATIENCE) == 0
    assert leftovers(project) == []


def test_a_redirect_ends_the_check_of_an_atom(tmp_path: Path) -> None:
    check = AtomCheck(type="command", value=f"test -f {tmp_path}/go && exit; touch {tmp_path}/checked; sleep 3600")
    project = a_project(tmp_path, atom("A1", run="echo a > a", check=check), base_case="test -f a")
    with project.running() as process:
        until((tmp_path / "checked").exists)
        checking = of_run(project)
        assert checking
        (tmp_path / "go").touch()
        assert project.aot(*LIMIT).code == 0
        until(lambda: not checking & of_run(project))  # by itself, none of them ends while this is waited for
        assert process.wait(PATIENCE) == 0
    assert project.subjects() == ["A1: do A1"]


# --- nothing older counts ----------------------------------------------------------------------------------------

LATE = """
import json, os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
answer = {"success": True, "bindings_delta": {"summary": "late", "artifacts": []}, "artifacts": [], "reason": ""}
if (folder / "go").exists():
    pathlib.Path("in-time.txt").write_text("in time")
    print(json.dumps(answer))
    sys.exit(0)
pathlib.Path("late.txt").write_text("late")
pathlib.Path(sys.argv[2]).write_text(json.dumps(answer))
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
(folder / "up").touch()
time.sleep(3600)
"""
"""All is there but for its end; that is a success, if it ends when it is told to."""


def late_finisher(folder: Path) -> str:
    program = folder / "late.py"
    program.write_text(LATE)
    argv = json.dumps([sys.executable, "-I", "-S", str(program), str(folder), "{result_file}"])
    return f'agent = "late"\n[agents.late]\nargv = {argv}\n'


def test_what_is_finished_after_a_redirect_is_not_used(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1"), base_case="test -f in-time.txt", config=late_finisher(tmp_path))
    with project.running() as process:
        until((tmp_path / "up").exists)
        (tmp_path / "go").touch()
        assert project.aot(*LIMIT).code == 0
        assert process.wait(PATIENCE) == 0
    assert "late.txt" not in project.files()
    assert "in-time.txt" in project.files()
    assert [name.partition("-")[0] for name in kept(project)].count("A1") == 2  # the late one as evidence
    assert leftovers(project) == []


def test_what_is_finished_after_a_redirect_is_not_used_by_the_next_run_either(tmp_path: Path) -> None:
    """The run is killed before it has taken notice of the redirect; its agent finishes, and the next run finds that."""
    project = a_project(tmp_path, atom("A1"), base_case="test -f in-time.txt", config=late_finisher(tmp_path))
    with project.running() as process:
        until((tmp_path / "up").exists)
        process.send_signal(signal.SIGSTOP)
        assert project.aot(*LIMIT).code == 0
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    assert project.run().code == 0
    assert "late.txt" not in project.files()


def test_a_journalled_result_of_an_older_epoch_is_not_taken_up(tmp_path: Path) -> None:
    """It was on disk, and being checked; then came the redirect, and then the run was killed."""
    check = AtomCheck(type="command", value=f"touch {tmp_path}/checked; {waits_for(tmp_path / 'go')}")
    config = scripted(tmp_path, {"A1": [done({"a.txt": "first\n"}), done({"a.txt": "second\n"})]})
    project = a_project(tmp_path, atom("A1", check=check), base_case="test -f a.txt", config=config)
    with project.running() as process:
        until((tmp_path / "checked").exists)
        assert (project.root / ".aot" / "attempts" / "A1-1" / "record.json").exists()
        process.send_signal(signal.SIGSTOP)
        assert project.aot(*LIMIT).code == 0
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    assert project.run().code == 0
    assert (project.root / "a.txt").read_text() == "second\n"
    assert times_asked(tmp_path, "A1") == 2


@pytest.mark.parametrize("isolation", ["worktree", "none"])
def test_the_same_result_is_taken_up_where_nobody_redirected(tmp_path: Path, isolation: str) -> None:
    check = AtomCheck(type="command", value=f"touch {tmp_path}/checked; {waits_for(tmp_path / 'go')}")
    config = scripted(tmp_path, {"A1": [done({"a.txt": "first\n"}), done({"a.txt": "second\n"})]})
    project = a_project(tmp_path, atom("A1", check=check), base_case="test -f a.txt", config=config)
    with project.running("--isolation", isolation) as process:
        until((tmp_path / "checked").exists)
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    assert project.run("--isolation", isolation, "--allow-dirty").code == 0
    assert (project.root / "a.txt").read_text() == "first\n"
    assert times_asked(tmp_path, "A1") == 1


def test_what_landed_just_before_a_redirect_is_taken_back_if_the_file_never_said_so(tmp_path: Path) -> None:
    """Killed between the landing and the state file, then redirected: the result is of an older epoch."""
    config = scripted(tmp_path, {"A1": [done({"a.txt": "first\n"}), done({"b.txt": "second\n"})]})
    project = a_project(tmp_path, atom("A1"), base_case="test -f b.txt", config=config)
    before = project.state_file.read_bytes()
    ran = project.run("--max-iterations", "1")
    assert ran.code != 0
    with_run_id = project.loop.control
    project.state_file.write_bytes(before)  # as it was before it said that A1 is resolved

    def crashed(loop: Loop) -> None:
        loop.control = replace(loop.control, status="running", run_id=with_run_id.run_id)
        loop.atoms[0] = replace(loop.atoms[0], status="in_progress")

    project.edit(crashed)
    assert project.aot(*LIMIT).code == 0
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "a.txt" not in project.files()
    assert "Take back A1" in project.subjects()


# --- the correction ----------------------------------------------------------------------------------------------


def test_a_correction_is_recorded_and_resets_stalls_and_the_loop_goes_on(tmp_path: Path) -> None:
    config = scripted(tmp_path, {ANYBODY: [done({"b": "b\n"})]})
    project = a_project(
        tmp_path, atom("A1", run=waits_for(tmp_path / "go", "echo a > a")), base_case="test -f b", config=config
    )
    project.edit(lambda loop: setattr(loop, "control", replace(loop.control, stall_count=2)))
    with project.running() as process:
        until(lambda: is_at(project, "A1"))
        assert project.loop.control.stall_count == 2
        assert project.aot("redirect", "--add", "write b", "--reason", "b is missing").code == 0
        (correction,) = project.loop.corrections
        assert (correction.type, correction.description) == ("dag_adjustment", "b is missing")
        assert project.loop.trail[-1].type == "user_correction"
        until(lambda: is_at(project, "A1"))
        assert project.loop.control.stall_count == 0
        assert project.loop.control.epoch == 1
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert len(project.loop.atoms) == 2
    assert [one["text"] for one in project.news() if one["kind"] == "correction"] == ["graph changed: b is missing"]


def test_what_a_correction_undoes_is_taken_back_and_done_again(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run=f"echo x >> {tmp_path}/times; cat {tmp_path}/times > b"),
        atom("A3", "A2", run=waits_for(tmp_path / "go", "echo c > c")),
        base_case="test -f c",
    )
    with project.running() as process:
        until(lambda: is_at(project, "A3"))
        assert project.aot("redirect", "--summary", "A1=it is a file named a").code == 0
        until(lambda: (tmp_path / "times").read_text() == "x\nx\n")
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert project.subjects() == ["A1: do A1", "A2: do A2", "Take back A2", "A2: do A2", "A3: do A3"]
    assert (project.root / "b").read_text() == "x\nx\n"
    assert project.loop.bindings["A1"].summary == "it is a file named a"
    assert project.loop.corrections[-1].type == "bindings_override"


def test_a_redirect_of_a_stopped_loop_holds_for_its_next_run(tmp_path: Path) -> None:
    orders = {"A1": [*(fails(f"no {number}") for number in range(10)), done({"a": "a\n"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    assert project.run().code == 5
    assert project.run().code == 5  # no attempt is left, however often it is asked
    assert times_asked(tmp_path, "A1") == 10
    assert project.aot("redirect", "--retry", "A1").code == 0
    assert project.loop.control.status == "stopped"
    assert project.run().code == 0


def test_a_crashed_loop_can_be_stopped_and_redirected(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run=waits_for(tmp_path / "go", "echo a > a")), base_case="test -f a")
    with project.running() as process:
        until(lambda: is_at(project, "A1"))
        process.kill()
        process.wait()
    assert project.aot(*LIMIT).code == 0
    assert project.statuses() == {"A1": "pending"}
    assert project.aot("stop").code == 0
    assert project.loop.control.status == "stopped"
    (tmp_path / "go").touch()
    assert project.run().code == 0
    assert leftovers(project) == []


def test_a_run_that_is_just_taking_over_from_one_that_died_can_be_stopped(tmp_path: Path) -> None:
    """It looks at its agents first; what is asked of it meanwhile is asked of it, and not of the one that died."""
    client = tmp_path / "client"
    client.write_text(f"#!/bin/sh\ntouch {tmp_path}/looking\n{waits_for(tmp_path / 'looked', 'echo 1.0')}\n")
    client.chmod(0o755)
    project = a_project(
        tmp_path,
        atom("A1", run=waits_for(tmp_path / "go", "echo a > a")),
        base_case="test -f a",
        config=f'agent = "codex"\n[agents.codex]\nprogram = "{client}"\n',
    )
    (tmp_path / "looked").touch()
    with project.running() as process:
        until(lambda: is_at(project, "A1"))
        process.kill()
        process.wait()
    (tmp_path / "looked").unlink()
    (tmp_path / "looking").unlink()
    with project.running() as process:
        until((tmp_path / "looking").exists)
        assert project.aot("stop", "--no-wait", "--reason", "not now").code == 0
        (tmp_path / "looked").touch()
        assert process.wait(PATIENCE) == 7
    assert project.loop.control.stop_reason == "user: not now"
    assert leftovers(project) == []


# --- the dialogue ------------------------------------------------------------------------------------------------


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    first = atom("A1", run=waits_for(tmp_path / "go", "echo a > a"))
    limits = Constraints(max_iterations=20)
    project = a_project(tmp_path, first, base_case="test -f a", constraints=limits)
    monkeypatch.chdir(project.root)
    return project


def looks_around(project: Project) -> None:
    """Until the run has noticed twice that its lease is gone, and taken it again."""
    lease = project.state_file.with_name(f".{project.state_file.name}.run")
    for _ in range(2):
        until(lease.exists)
        lease.unlink()
    until(lease.exists)


def test_nothing_goes_on_while_a_person_is_asked_and_everything_does_afterwards(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        with terminal("redirect") as screen:
            screen.wait_for("Number:")
            until(lambda: not of_run(held))
            looks_around(held)  # for longer than it takes to find that a dialogue was abandoned
            assert held.loop.control.redirect_requested
            assert held.statuses() == {"A1": "pending"}
            assert of_run(held) == set()
            (held.root.parent / "go").touch()
            screen.type("0\n")
            assert screen.end() == 0
        assert process.wait(PATIENCE) == 0
    assert not held.loop.control.redirect_requested


def test_a_dialogue_that_was_left_without_a_word_expires(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        with terminal("redirect") as screen:
            screen.wait_for("Number:")
            until(lambda: held.statuses() == {"A1": "pending"})
            holder = holder_of(str(held.state_file), "redirect")
            assert holder is not None
            assert holder.pid is not None
            os.kill(holder.pid, signal.SIGKILL)
            (held.root.parent / "go").touch()
            assert process.wait(PATIENCE) == 0
    assert not held.loop.control.redirect_requested
    assert held.loop.corrections == []


def test_a_dialogue_and_a_run_that_both_died_leave_nothing_that_holds_up_the_next_run(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        with terminal("redirect") as screen:
            screen.wait_for("Number:")
            until(lambda: not of_run(held))
            process.kill()
            process.wait()
    assert held.loop.control.redirect_requested
    (held.root.parent / "go").touch()
    assert held.run().code == 0
    assert leftovers(held) == []


def test_stop_overrides_a_dialogue(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        with terminal("redirect") as screen:
            screen.wait_for("Number:")
            assert held.aot("stop", "--reason", "enough").code == 0
            assert process.wait(PATIENCE) == 7
            assert holder_of(str(held.state_file), "redirect") is not None
    assert held.loop.control.stop_reason == "user: enough"
    (held.root.parent / "go").touch()
    assert held.run().code == 0


def test_an_old_buffer_does_not_end_a_dialogue(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        stale = held.state_file.read_text()
        with terminal("redirect") as screen:
            screen.wait_for("Number:")
            until(lambda: not of_run(held))
            held.state_file.write_text(stale)
            until(lambda: any("restored" in one.get("text", "") for one in held.news()))
            assert held.loop.control.redirect_requested
            assert held.statuses() == {"A1": "pending"}
            (held.root.parent / "go").touch()
            screen.type("0\n")
            assert screen.end() == 0
        assert process.wait(PATIENCE) == 0


# --- behind its back ---------------------------------------------------------------------------------------------

BEHIND = {
    "goal": ('goal: "It works"', 'goal: "It works well"', 'goal: "It works well"'),
    "base case": ('item: "item 1"', 'item: "item one"', "item one"),
    "protect": ('definition_of_done: "the tests pass"', None, 'protect[0]: "README.md"'),
    "limit": ("max_iterations: 20", "max_iterations: 21", "max_iterations: 21"),
}


def changed(text: str, what: str) -> str:
    old, new, _ = BEHIND[what]
    assert text.count(old) == 1
    return text.replace(old, new if new is not None else f'{old}\n  protect: ["README.md"]')


@pytest.mark.parametrize("what", BEHIND)
def test_what_was_agreed_on_changed_while_it_runs_stops_it_until_it_is_accepted(held: Project, what: str) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        held.state_file.write_text(changed(held.state_file.read_text(), what))
        assert process.wait(PATIENCE) == 6
    reason = str(held.loop.control.stop_reason)
    assert reason.startswith("blocked: the objective was changed behind the loop's back: ")
    assert BEHIND[what][2] in reason
    assert held.statuses() == {"A1": "pending"}
    again = held.run()
    assert again.code == 6
    assert BEHIND[what][2] in again.err
    assert held.aot("redirect", "--accept").code == 0
    (held.root.parent / "go").touch()
    ran = held.run()
    assert ran.code == 0, ran.err
    assert held.loop.corrections[-1].type == ("constraint_change" if what == "limit" else "objective_change")
    assert leftovers(held) == []


@pytest.mark.parametrize("what", BEHIND)
def test_what_was_agreed_on_changed_while_it_is_stopped_keeps_it_from_running(held: Project, what: str) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        assert held.aot("stop").code == 0
        process.wait(PATIENCE)
    agreed = held.state_file.read_text()
    held.state_file.write_text(changed(agreed, what))
    ran = held.run()
    assert ran.code == 6
    assert BEHIND[what][2] in ran.err
    held.state_file.write_text(agreed)  # or changed back
    (held.root.parent / "go").touch()
    assert held.run().code == 0


def test_changed_back_it_goes_on(held: Project) -> None:
    with held.running() as process:
        until(lambda: is_at(held, "A1"))
        held.state_file.write_text(changed(held.state_file.read_text(), "goal"))
        assert process.wait(PATIENCE) == 6
    text = held.state_file.read_text()
    held.state_file.write_text(text.replace('goal: "It works well"', 'goal: "It works"'))
    (held.root.parent / "go").touch()
    assert held.run().code == 0


def test_a_base_case_that_was_redirected_is_the_one_that_counts(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run=waits_for(tmp_path / "go", "echo a > a")),
        base_case=commands("test -f never"),
        constraints=Constraints(max_iterations=30),
    )
    with project.running() as process:
        until(lambda: is_at(project, "A1"))
        assert project.aot("redirect", "--command", "test -f a").code == 0
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert project.loop.corrections[-1].type == "objective_change"
    assert [one["passed"] for one in project.news() if one["kind"] == "verified"][-1]
