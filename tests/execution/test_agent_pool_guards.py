"""What a run learnt about agents: crashes that are alike, roles that a program does not play, formless answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from aotloop.agents.contract import Crashed, Failed
from aotloop.core.model import AtomCheck
from aotloop.execution.availability import Availability
from tests.loops import atom
from tests.runner.projects import a_project


def program(folder: Path, text: str, more: str = "") -> str:
    """An aot.toml with this program as its agent."""
    file = folder / "agent.py"
    file.write_text(text)
    return f'agent = "mine"\n[agents.mine]\nargv = {json.dumps([sys.executable, str(file)])}\n{more}'


def test_an_agent_that_crashes_alike_on_three_atoms_blocks_the_run(tmp_path: Path) -> None:
    crash = "import os, sys; sys.exit(f'no library 0x{os.getpid():x} for ' + os.environ['AOT_ATOM_ID'])"
    atoms = [atom(f"A{number}") for number in range(1, 7)]
    project = a_project(tmp_path, *atoms, base_case="test -f never", config=program(tmp_path, crash))
    ran = project.run()
    assert ran.code == 6, ran.err
    assert (project.loop.control.stop_reason or "").startswith("blocked: the agent crashes: mine, 3 times alike")
    ended = [one["outcome"] for one in project.news() if one["kind"] == "attempt_ended"]
    assert ended.count("crashed") <= 5, "those that ran already end as they do"


def test_crashes_that_differ_or_have_a_success_between_them_are_those_of_the_atoms() -> None:
    there = Availability(60.0)
    assert not there.crashes("mine", "A1", Crashed(reason="exit 1: alpha"))
    assert not there.crashes("mine", "A2", Crashed(reason="exit 1: beta"))
    assert not there.crashes("mine", "A3", Crashed(reason="exit 1: beta"))
    assert not there.crashes("mine", "A3", Crashed(reason="exit 1: beta")), "twice the same atom"
    assert not there.crashes("mine", "A4", Failed(reason="too hard"))
    assert not there.crashes("mine", "A5", Crashed(reason="exit 1: beta"))
    assert not there.crashes("mine", "A6", Crashed(reason="exit 1: beta"))
    assert there.crashes("mine", "A7", Crashed(reason="exit 1: beta"))


DONE = 'print(\'{"success": true, "bindings_delta": {"summary": ""}}\')'


def test_a_program_is_not_asked_to_probe_unless_it_says_that_it_can(tmp_path: Path) -> None:
    worker = f"import os; os.environ['AOT_ROLE'] == 'worker' or os.abort(); open('a', 'w').close(); {DONE}"
    project = a_project(tmp_path, atom("A1", probe=True), base_case="test -f a", config=program(tmp_path, worker))
    ran = project.run()
    assert ran.code == 0, ran.err
    assert "no agent that is configured plays the role of a probe" in str(project.news())


@pytest.mark.parametrize("made", ["a", "b"])
def test_work_that_passes_its_check_counts_whatever_the_answer_looks_like(tmp_path: Path, made: str) -> None:
    config = program(tmp_path, f"open({made!r}, 'w').close(); print('All done, I am sure!')")
    check = AtomCheck(type="command", value="test -f a")
    project = a_project(tmp_path, atom("A1", check=check), base_case="test -f a", config=config)
    ran = project.run()
    assert (ran.code == 0) == (made == "a"), ran.err
    assert ("not in the form that was asked for" in str(project.news())) == (made == "a")
