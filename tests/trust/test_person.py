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


def attempts_in(root: Path, home: Path, first: int) -> str:
    """A shell command that tries each way plainly and in a disguise (beginning with the `first`): it tells `said`."""
    state = root / ".claude" / "aot-loop-state.md"
    clean = f"env -i PATH=$PATH HOME={home}"
    disguises = (clean, f"{clean} setsid --wait", f"{clean} {sys.executable} -c '{PTY}'")
    lines = []
    for number, way in enumerate(WAYS, first):
        line = f"{AOT} {way.format(state)}"
        lines += [line, f"{disguises[number % len(disguises)]} {line} </dev/null"]
    tried = "; ".join(f"( cd {root} && {line} ) >> $S 2>&1 && echo ACCEPTED >> $S" for line in lines)
    return f"S=$PWD/said; {tried}; true"


def the_project(folder: Path, home: Path, sandbox: str, first: int, *, in_check: bool) -> Project:
    """The attempt lands what it was told; the check shows it, and fails."""
    marks = folder / "marks"
    marks.mkdir()
    tries = attempts_in(folder / "project", home, first)
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
    ("sandbox", "in_check", "first"),  # no disguise is left out where nothing is fenced
    [
        pytest.param("auto", True, 0, marks=FENCED),
        pytest.param("landlock", True, 1, marks=FENCED),
        pytest.param("landlock", False, 2, marks=FENCED),
        ("off", True, 0),
        ("off", False, 1),
        ("off", False, 2),
    ],
)
def test_nothing_below_a_run_confirms_accepts_or_redirects(
    tmp_path: Path, own_home: Path, sandbox: str, in_check: bool, first: int
) -> None:
    project = the_project(tmp_path, own_home, sandbox, first, in_check=in_check)
    ran = project.run()
    told = ran.out if in_check else project.git("show", "HEAD:said")
    assert "ACCEPTED" not in told, told
    if not in_check:
        assert told.count("this is an attempt of a loop") == 2 * len(WAYS), told
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
