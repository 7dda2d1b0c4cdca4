"""`aot watch` shows a run from outside, until it ends, and leaves it alone."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from aotloop.core.model import Loop
from aotloop.execution import run_events
from aotloop.statefile.lease import holder_of
from tests.cli.live.running import AT, Project, a_beginning, a_run
from tests.cli.terminal import COLOUR, aot, on_terminal, spawn, started, terminal
from tests.execution.journals.test_event_file import HOSTILE_LINES
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, give_way

EVIL = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\n"


def two_atoms() -> Loop:
    return a_loop(atom("A1"), atom("A2", "A1"))


# --- on a terminal -----------------------------------------------------------------------------------------------


def test_it_follows_the_files_until_the_run_ends(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began(branch="main")
        with terminal("watch") as screen:
            screen.wait_for("the run began on main")
            run.write(a_loop(atom("A1", status="in_progress"), atom("A2", "A1")))
            run.begin("A1", 1)
            screen.wait_for("● A1")
            run.printed("A1", 1, "compiling")
            screen.wait_for("│ compiling")
            run.printed("A1", 1, "linking")
            screen.wait_for("│ linking")
            run.write(a_loop(atom("A1", status="resolved"), atom("A2", "A1"), status="stopped"))
            run.tell(run_events.RunEnded(at=AT, status="stopped", reason="user: enough"))
            run.end()
            assert screen.end() == 0
    last = screen.text[screen.text.rindex("It works") :]
    assert "✔ A1" in last
    assert "■ user: enough" in last
    assert screen.shown.rindex("\x1b[?25h") > screen.shown.rindex("\x1b[?25l")


def test_a_run_that_is_killed_is_told_from_one_that_ends(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        run.begin("A1", 1)
        with terminal("watch") as screen:
            screen.wait_for("try 1")
            os.kill(run.pid, signal.SIGKILL)
            assert screen.end() == 0
    last = screen.text[screen.text.rindex("It works") :]
    assert "the process that ran it has ended" in last
    assert "try 1" not in last


def test_ctrl_c_ends_the_watching_and_not_the_run(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        with terminal("watch") as screen:
            screen.wait_for("the run began")
            screen.type("\x03")
            assert screen.end() == 130
        assert "The run continues." in screen.text
        assert screen.shown.rindex("\x1b[?25h") > screen.shown.rindex("\x1b[?25l")
        assert holder_of(str(path)) is not None


def test_whatever_happens_to_the_files_it_goes_on(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run, terminal("watch") as screen:
        screen.wait_for("It works")
        run.append(*HOSTILE_LINES)
        run.began(branch="one")
        screen.wait_for("the run began on one")
        run.events.write_bytes(b"")
        run.began(branch="two")
        screen.wait_for("the run began on two")
        run.events.unlink()
        give_way(0.2)
        run.began(branch="three")
        screen.wait_for("the run began on three")
        run.events.unlink()
        run.events.mkdir()
        path.write_bytes(b"---\nnot: [a loop\n")
        give_way(0.2)
        path.unlink()
        give_way(0.2)
        run.write(a_loop(atom("New"), atom("Other")))
        screen.wait_for("○ New")
        run.events.rmdir()
        run.end()
        assert screen.end() == 0
    assert "bug" not in screen.text
    assert "Traceback" not in screen.text


def test_nothing_in_news_or_output_can_steer_the_terminal(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", description=EVIL), atom(f"A2{EVIL}")))
    with a_run(path) as run:
        run.began(branch=EVIL, goal=EVIL)
        run.begin("A1", 1, description=EVIL)
        run.printed("A1", 1, f"printed {EVIL}")
        run.tell(run_events.NotMerged(at=EVIL, atom=EVIL, attempt=2, why="conflict", reason=EVIL))
        with terminal("watch") as screen:
            screen.wait_for("printed")
            run.end()
            screen.end()
    for words in (["watch", "--once"], ["log", "A1"]):
        _, once = on_terminal(*words)
        left = COLOUR.sub("", once.shown).replace("\r\n", "\n")
        assert [one for one in left if not one.isprintable() and one != "\n"] == [], words
    assert not {"\x07", "\x9b", "\u202e"} & set(screen.shown)
    assert "\x1b[8m" not in screen.shown


# --- without a terminal ------------------------------------------------------------------------------------------


def test_without_a_terminal_it_is_a_log(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.tell(a_beginning(pid=1, branch="before"))
        run.began(branch="now")
        with started("watch") as process:
            assert process.stdout is not None
            assert b"the run began on now" in process.stdout.readline()
            run.begin("A1", 1)
            assert b"A1: attempt 1 began, by claude" in process.stdout.readline()
            run.tell(run_events.RunEnded(at=AT, status="completed"))
            run.end()
            assert b"the run is complete" in process.stdout.readline()
            assert process.wait(PATIENCE) == 0


def test_a_log_tells_of_a_run_that_was_killed(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        with started("watch") as process:
            assert process.stdout is not None
            process.stdout.readline()
            os.kill(run.pid, signal.SIGKILL)
            assert b"the process that ran it has ended" in process.stdout.readline()
            assert process.wait(PATIENCE) == 0


def test_json_is_the_news_as_they_were_written(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        with started("watch", "--json") as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["kind"] == "run_began"
            run.append(*HOSTILE_LINES[:3], b'{"kind":"from the future","x":1}')
            assert json.loads(process.stdout.readline()) == {"kind": "from the future", "x": 1}
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stdout.read() == b""
        assert holder_of(str(path)) is not None


def test_a_reader_who_leaves_ends_it(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        with started("watch", "--json") as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            run.tell(*(run_events.Verifying(at=AT) for _ in range(10)))
            assert process.wait(PATIENCE) == 141
            process.stdout = None


# --- once --------------------------------------------------------------------------------------------------------


def test_once_shows_how_it_stands_and_ends(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with a_run(path) as run:
        run.began()
        run.begin("A1", 1)
        run.printed("A1", 1, "compiling")
        ran = spawn("watch", "--once")
        assert (ran.code, ran.err) == (0, "")
        assert "│ compiling" in ran.out
        assert "claude · try 1" in ran.out
        assert [one for one in ran.out if not one.isprintable() and one != "\n"] == []
        told = spawn("watch", "--once", "--json")
        assert [json.loads(line)["kind"] for line in told.out.splitlines()] == ["run_began", "attempt_began"]
        code, screen = on_terminal("watch", "--once", columns=60)
        assert code == 0
        assert "● A1" in screen.text
        assert max(map(len, screen.text.splitlines())) <= 60


CUT_OFF = "o process runs this loop now, and the last run was cut off: `aot run` continues the loop"


def test_if_no_process_runs_it_that_is_said_and_the_state_is_shown(project: Path) -> None:
    Project(write_loop(project, two_atoms())).begin("A1", 1)
    ran = aot("watch", "--once")
    assert ran.code == 0
    assert ran.err.splitlines()[0] == f"N{CUT_OFF}; this is its state."
    assert "○ A1" in ran.out
    assert "try 1" not in ran.out
    code, screen = on_terminal("watch", "--once")
    assert code == 0
    assert "○ A1" in screen.text
    assert aot("watch", "--once", "--json").out.count("\n") == 1


def test_after_a_kill_aot_status_says_what_aot_watch_says(project: Path) -> None:
    write_loop(project, two_atoms())
    assert CUT_OFF in aot("watch", "--once").err
    assert CUT_OFF in aot("status").out
    assert aot("status", "--json").json["cut_off"] is True


def test_a_loop_that_was_never_run_is_shown_all_the_same(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    ran = aot("watch", "--once")
    assert (ran.code, ran.err.splitlines()[0]) == (0, "No process runs this loop now; this is its state.")
    assert ran.err.splitlines()[1] == "Next: aot run"
    assert aot("watch", "--once", "--json").out == ""


def test_aot_watch_waits_for_a_run_to_begin(project: Path) -> None:
    path = write_loop(project, two_atoms())
    with started("watch") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"the watching begins with the next run" in process.stderr.readline()
        with a_run(path) as run:
            run.began(branch="later")
            run.tell(run_events.RunEnded(at=AT, status="stopped", reason="user: enough"))
            shown = iter(process.stdout.readline, b"")
            assert any(b"the run began on later" in line for line in shown)
            assert any(b"user: enough" in line for line in shown)
            run.end()
        assert process.wait(PATIENCE) == 0


def test_a_completed_loop_is_not_waited_for(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), status="completed"))
    assert aot("watch").code == 0


def test_without_a_state_file_there_is_nothing_to_watch(project: Path) -> None:
    del project
    assert aot("watch").code == 1
