"""Nothing that we start can speak for a person: not from an attempt, a check or a test, by any way that it tries."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem, Constraints
from aotloop.process.sandbox import is_possible
from tests.loops import atom
from tests.runner.agents import done, scripted
from tests.runner.projects import Project, a_project

AOT = Path(sys.executable).with_name("aot")
PTY = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
FENCED = pytest.mark.skipif(not is_possible(), reason="this machine has no fence")
WAYS = (
    "confirm --all --yes --state-file {}",
    "redirect --accept --reason x --state-file {}",
    "redirect --goal other --reason x --state-file {}",
    "ship approve --yes",
    "ship advance --reason x --yes",
)


def attempts_in(root: Path, home: Path) -> str:
    """A shell command that tries each way plainly, without variables, and in a terminal of its own: it tells `said`."""
    state = root / ".claude" / "aot-loop-state.md"
    lines = []
    for way in WAYS:
        line = f"{AOT} {way.format(state)}"
        clean = f"env -i PATH=$PATH HOME={home}"
        lines += [line, f"{clean} {line}", f"{clean} setsid --wait {line}"]
        lines += [f"{clean} {sys.executable} -c '{PTY}' {line} </dev/null"]
    tried = "; ".join(f"( cd {root} && {line} ) >> $S 2>&1 && echo ACCEPTED >> $S" for line in lines)
    return f"S=$PWD/said; {tried}; true"


def the_project(folder: Path, home: Path, sandbox: str, *, in_check: bool) -> Project:
    """The attempt lands what it was told; the check shows it, and fails."""
    marks = folder / "marks"
    marks.mkdir()
    tries = attempts_in(folder / "project", home)
    judged = BaseCase(checklist=(ChecklistItem(item="nice", check=Check(type="assertion", value="it is nice")),))
    check = AtomCheck(type="command", value=f"{tries}; cat said; exit 1") if in_check else None
    order = done({"a": "a"}, run=tries)
    return a_project(
        folder,
        atom("A1", check=check, run="echo a > a" if in_check else None),
        base_case=judged,
        config=scripted(marks, {"A1": [order]}),
        environ={"AOT_CONFINE": "auto", "AOT_SANDBOX": sandbox},
        constraints=Constraints(max_total_attempts=1),
    )


@pytest.mark.parametrize(
    ("sandbox", "in_check"),
    [
        pytest.param("auto", True, marks=FENCED),
        pytest.param("landlock", True, marks=FENCED),
        pytest.param("landlock", False, marks=FENCED),
        ("off", True),
        ("off", False),
    ],
)
def test_nothing_below_a_run_confirms_accepts_or_redirects(
    tmp_path: Path, own_home: Path, sandbox: str, in_check: bool
) -> None:
    project = the_project(tmp_path, own_home, sandbox, in_check=in_check)
    ran = project.run()
    told = ran.out if in_check else project.git("show", "HEAD:said")
    assert "ACCEPTED" not in told, told
    if not in_check:
        assert told.count("this is an attempt of a loop") == 4 * len(WAYS), told
    assert "this is an attempt of a loop" in told, told
    assert ran.code in (4, 5, 6), ran.out
    assert project.loop.control.status == "stopped"
    assert project.loop.objective.goal == "It works"
    assert not (own_home / ".local/share/aotloop/confirmed").exists()


def test_a_person_without_a_terminal_may_say_yes(tmp_path: Path) -> None:
    judged = BaseCase(checklist=(ChecklistItem(item="nice", check=Check(type="assertion", value="it is nice")),))
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case=judged)
    assert project.run().code == 6
    assert project.aot("confirm", "--all", "--yes").code == 0
    assert project.loop.control.status == "completed"
