"""`aot stop`: whoever runs the loop is asked and waited for; one that nobody runs is stopped at once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.run.stop import stop_and_wait
from aotloop.core.model import Loop, TrailEntry
from aotloop.errors import AotError
from aotloop.statefile.store import Store
from tests.cli.terminal import aot, spawn, started, terminal
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, give_way, until


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


def under_way() -> Loop:
    story = TrailEntry(reason="no luck", timestamp="2026-01-01T00:00:00Z", type="failure", atom="A2", attempt=1)
    return a_loop(atom("A1", status="resolved"), atom("A2", "A1", status="in_progress", attempts=1), trail=[story])


def wait_for_request(path: Path) -> None:
    until(lambda: loop_in(path).control.stop_requested)


# --- somebody runs it --------------------------------------------------------------------------------------------


def test_whoever_runs_it_is_asked_and_waited_for(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path, obeys=True) as runner:
        ran = spawn("stop", "--reason", "the design is wrong")
        assert runner.wait(PATIENCE) == 0  # it was gone before the command was
    assert (ran.code, ran.out) == (0, "✔ the loop is stopped (user: the design is wrong)\n")
    assert ran.err == "Next: aot status  ·  aot run\n"
    assert loop_in(path).control.status == "stopped"
    assert loop_in(path).control.stop_reason == "user: the design is wrong"


def test_what_was_done_is_kept(project: Path) -> None:
    path = write_loop(project, under_way())
    before = loop_in(path)
    with held_by_another(path, obeys=True):
        assert spawn("stop").code == 0
    after = loop_in(path)
    assert (after.bindings, after.trail) == (before.bindings, before.trail)
    assert [one.status for one in after.atoms] == ["resolved", "pending"]
    assert after.atoms[1].attempts == 1


def test_to_only_ask_does_not_wait(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner:
        ran = spawn("stop", "--no-wait", "--reason", "later", "--json")
        assert runner.poll() is None
    assert ran.json == {
        "success": True,
        "status": "running",
        "stop_reason": "later",
        "runner": runner.pid,
        "asked_only": True,
        "abandoned": [],
    }
    assert loop_in(path).control.stop_requested
    assert loop_in(path).atoms[1].status == "in_progress"  # that is for whoever runs it


def test_on_a_terminal_it_says_whom_it_waits_for(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner, terminal("stop") as screen:
        screen.wait_for(f"waiting for process {runner.pid} to stop")
        runner.kill()
        assert screen.end() == 0
    assert screen.text.rpartition("\r\x1b[2K")[2].startswith("✔ the loop is stopped (user: stop requested); A2 will be")


def test_waiting_can_be_given_up_and_the_request_stays(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner, terminal("stop") as screen:
        screen.wait_for("waiting for process")
        screen.type("\x03")
        assert screen.end() == 130
        assert runner.poll() is None
    assert loop_in(path).control.stop_requested


def test_it_does_not_wait_for_ever(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner, pytest.raises(AotError) as caught:
        stop_and_wait(Store(str(path)), None, patience=0.2)
    assert caught.value.message == f"process {runner.pid} was asked to stop, but it still runs this loop after 0.2 s"
    assert caught.value.hint is not None
    assert f"`kill {runner.pid}` ends it" in caught.value.hint
    assert loop_in(path).control.stop_requested


def test_a_runner_that_dies_while_it_is_waited_for_leaves_a_loop_that_is_stopped(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner, started("stop", "--json") as process:
        wait_for_request(path)
        os.kill(runner.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b'"abandoned": [\n    "A2"\n  ]' in out
    assert loop_in(path).control.status == "stopped"
    assert loop_in(path).atoms[1].status == "pending"


def test_who_is_only_about_to_run_it_is_asked_as_soon_as_it_does(project: Path) -> None:
    path = write_loop(project, replace_status(under_way(), "stopped"))
    with held_by_another(path, obeys=True), started("stop") as process:
        give_way(0.2)
        assert process.poll() is None
        path.write_bytes(path.read_bytes().replace(b"status: stopped", b"status: running"))
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert loop_in(path).control.status == "stopped"


def test_to_only_ask_who_has_not_begun_is_too_early(project: Path) -> None:
    path = write_loop(project, replace_status(under_way(), "pending"))
    with held_by_another(path) as runner:
        ran = spawn("stop", "--no-wait")
    assert ran.code == 1
    assert f"process {runner.pid} is just starting this loop" in ran.err
    assert "Try again in a moment" in ran.err


def test_a_loop_that_is_completed_meanwhile_is_not_stopped(project: Path) -> None:
    path = write_loop(project, under_way())
    with held_by_another(path) as runner, started("stop") as process:
        wait_for_request(path)
        path.write_bytes(path.read_bytes().replace(b"status: running", b"status: completed"))
        runner.kill()
        runner.wait()
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "completed before it stopped" in out.decode()


# --- nobody runs it ----------------------------------------------------------------------------------------------


def test_a_loop_that_a_crash_left_behind_is_stopped_at_once(project: Path) -> None:
    path = write_loop(project, under_way())
    ran = aot("stop", "--reason", "enough")
    assert ran.code == 0
    assert ran.out == "✔ the loop is stopped (user: enough); no process was running it; A2 will be done again\n"
    after = loop_in(path)
    assert (after.control.status, after.control.stop_reason) == ("stopped", "user: enough")
    assert [one.status for one in after.atoms] == ["resolved", "pending"]


def test_a_request_of_a_dialogue_that_is_gone_goes_with_it(project: Path) -> None:
    loop = under_way()
    loop.control = replace(loop.control, redirect_requested=True)
    path = write_loop(project, loop)
    assert aot("stop").code == 0
    assert not loop_in(path).control.redirect_requested


def test_stop_works_while_a_dialogue_is_open(project: Path) -> None:
    loop = under_way()
    loop.control = replace(loop.control, redirect_requested=True)
    path = write_loop(project, loop)
    with held_by_another(path, "redirect"):
        assert spawn("stop").code == 0
        assert loop_in(path).control.status == "stopped"
        assert loop_in(path).control.redirect_requested  # the dialogue is still open, and takes it back itself


def test_to_stop_twice_says_so(project: Path) -> None:
    write_loop(project, under_way())
    assert aot("stop", "--reason", "enough").code == 0
    again = aot("stop", "--reason", "more than enough")
    assert (again.code, again.out) == (0, "✔ the loop is already stopped (user: enough)\n")
    assert aot("stop", "--json").json["status"] == "stopped"


@pytest.mark.parametrize(("status", "told"), [("pending", "has not begun"), ("completed", "is completed")])
def test_there_is_nothing_to_stop_before_and_after(project: Path, status: str, told: str) -> None:
    path = write_loop(project, replace_status(a_loop(atom("A1")), status))
    before = path.read_bytes()
    ran = aot("stop")
    assert ran.code == 1
    assert told in ran.err
    assert "aot" in ran.err.splitlines()[1]
    assert path.read_bytes() == before


def replace_status(loop: Loop, status: str) -> Loop:
    loop.control = replace(loop.control, status=status)
    return loop
