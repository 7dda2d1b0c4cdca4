"""`aot doctor` says what is there, what is missing, and what to do about it; it changes nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.doctor.findings import found
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def test_a_machine_with_all_it_needs_is_fine(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", run="true"), status="pending"))
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=project, check=True)
    ran = aot("doctor")
    assert ran.code == 0
    assert "✔ git: 2." in ran.out
    assert "✔ state file: " in ran.out
    assert f"✔ repository: {project.resolve()} on main" in ran.out
    assert "✔ shell: " in ran.out
    assert ran.err == "Next: aot run\n"


@pytest.mark.usefixtures("project")
def test_it_works_where_there_is_no_loop() -> None:
    told = found()
    assert told["state file"]["ok"] is None
    assert told["state file"]["fix"] == "`aot align` makes one."
    ran = aot("doctor")
    assert ran.code == 0
    assert ran.err == "Next: aot align\n"
