"""`aot log --follow` tells the news of runs as they come; `aot log ATOM` finds what its attempts left."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from aotloop.execution import run_events
from tests.cli.live.running import AT, Project, a_beginning
from tests.cli.terminal import aot, started
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE


def a_project(project: Path) -> Project:
    return Project(write_loop(project, a_loop(atom("A1"), atom("A2"))))


def added(name: str) -> run_events.AtomsAdded:
    return run_events.AtomsAdded(at=AT, atoms=(name,))


# --- following ---------------------------------------------------------------------------------------------------


def test_the_last_twenty_come_first_and_then_what_happens(project: Path) -> None:
    run = a_project(project)
    run.tell(*(added(f"B{number}") for number in range(50)))
    with started("log", "-f") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{AT}  new: B30\n".encode()
        for _ in range(19):
            last = process.stdout.readline()
        assert last.endswith(b"new: B49\n")
        run.tell(a_beginning())
        assert b"the run began" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_only_what_is_about_an_atom(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    run.tell(added("A1"), added("B1"), a_beginning())
    with started("log", "--follow", "A1", "--json") as process:
        assert process.stdout is not None
        kinds = [json.loads(process.stdout.readline())["kind"] for _ in range(2)]
        assert kinds == ["attempt_began", "added"]
        run.tell(
            run_events.Verifying(at=AT), run_events.Verifying(at=AT, atom="A2"), run_events.Verifying(at=AT, atom="A1")
        )
        assert json.loads(process.stdout.readline()) == {"kind": "verifying", "at": AT, "atom": "A1"}


def test_before_the_first_news_it_waits(project: Path) -> None:
    run = a_project(project)
    with started("log", "-f") as process:
        assert process.stderr is not None
        assert b"no events yet" in process.stderr.readline()
        run.append(b"garbage", b'{"kind":"?"}')
        run.tell(added("B1"))
        assert process.stdout is not None
        assert process.stdout.readline().endswith(b"new: B1\n")


def test_an_atom_that_nobody_knows_is_not_waited_for(project: Path) -> None:
    run = a_project(project)
    run.tell(added("A1"))
    ran = aot("log", "-f", "Nope")
    assert ran.code == 1
    assert "there is no atom Nope" in ran.err


# --- journals ----------------------------------------------------------------------------------------------------


def test_an_atom_s_attempts_are_told_with_the_end_of_their_output(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    run.begin("A1", 4, role="probe")
    run.begin("A1", 7)
    run.printed("A1", 7, *(f"line {number}" for number in range(30)))
    (project / ".aot/attempts/A1-1").rmdir()
    told = aot("log", "A1").out
    assert told.splitlines() == [
        "Nothing has happened with A1 so far: no result, no failure, no correction.",
        "",
        "Journals of its attempts",
        f"  {AT}  A1#1  gone  claude",
        f"  {AT}  A1#2, a probe  .aot/attempts/A1-4  claude",
        f"  {AT}  A1#3  .aot/attempts/A1-7  claude",
        "",
        "The last lines that A1#3 printed",
        *(f"  line {number}" for number in range(20, 30)),
    ]
    facts = aot("log", "A1", "--json").json
    assert facts["attempts"][0]["folder"] is None
    assert facts["attempts"][2]["folder"] == str(project / ".aot/attempts/A1-7")
    assert facts["output"][-1] == "line 29"
    assert facts["entries"] == []


def test_an_atom_that_is_gone_still_has_its_journals(project: Path) -> None:
    run = a_project(project)
    run.begin("Old", 1)
    assert ".aot/attempts/Old-1" in aot("log", "Old").out
    assert aot("log", "Older").code == 1


def test_of_many_journals_the_last_are_told(project: Path) -> None:
    run = a_project(project)
    for number in range(25):
        run.begin("A1", number)
    told = aot("log", "A1").out
    assert "… 15 earlier ones" in told
    assert "A1#15 " not in told
    assert "A1#25 " in told
