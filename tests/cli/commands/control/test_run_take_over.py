"""A session and `aot run` do not drive the same loop: whoever comes second is told, or takes it over."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.statefile.reader import decode
from tests.cli.terminal import spawn
from tests.loops import a_loop, atom, write_accepted


def held_by(session: str, status: str) -> Loop:
    loop = a_loop(atom("A1", run="touch done.txt"), status=status, command="test -f done.txt")
    loop.control = replace(loop.control, session_id=session)
    return loop


def test_a_run_does_not_take_a_loop_that_a_session_drives(project: Path) -> None:
    path = write_accepted(project, held_by("s1", "running"))
    before = path.read_bytes()
    ran = spawn("run", "--json")
    assert ran.code == 1
    assert "the session s1 drives this loop" in ran.json["error"]
    assert "--take-over" in ran.json["hint"]
    assert path.read_bytes() == before


def test_a_run_takes_it_over_if_a_person_says_so(project: Path) -> None:
    path = write_accepted(project, held_by("s1", "running"))
    assert spawn("run", "--in-place", "--take-over").code == 0
    control = decode(path.read_bytes()).control
    assert (control.status, control.session_id) == ("completed", None)


def test_a_session_that_left_its_loop_is_bound_to_it_no_more(project: Path) -> None:
    """Else its hooks would steer it while another process runs it."""
    path = write_accepted(project, held_by("s1", "stopped"))
    assert spawn("run", "--in-place").code == 0
    assert decode(path.read_bytes()).control.session_id is None
