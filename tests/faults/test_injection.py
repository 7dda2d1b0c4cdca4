"""Texts that would do something, in every field where others can put text: nothing is run, nothing written outside.

The short version of `python -m faults injection hostile`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from faults.counts import Deadline
from faults.injection import campaign, commands, settings
from faults.injection.fields import put, texts_in
from faults.injection.traps import Trap
from faults.leading_out import LINKED

from aotloop.agents.answers.answer_schema import RESULTS
from aotloop.cli.main import COMMANDS
from aotloop.config import tables
from aotloop.core.model import Loop, Objective
from aotloop.core.phases.model import PhaseLoop
from aotloop.hooks.payload import Payload
from aotloop.scripts.run import MODULES
from aotloop.statefile.yaml import emitter
from faults import hostility
from tests.cli.terminal import on_terminal
from tests.loops import a_loop, atom, write_loop


def test_fields_are_found_by_their_types() -> None:
    """One that is added tomorrow is covered tomorrow."""

    class Deep(msgspec.Struct):
        name: str
        count: int = 0
        inner: dict[str, tuple[Objective, ...]] = {}

    found = texts_in(Deep)
    assert ("name",) in found
    assert ("inner", "{key}") in found
    assert ("inner", "{}", "[]", "protect", "[]") in found
    assert not any("count" in path for path in found)


@pytest.mark.parametrize("kind", [Loop, PhaseLoop, Payload, *RESULTS.values()])
def test_every_text_that_is_found_can_be_put(kind: type) -> None:
    known: dict[type, Any] = {Loop: emitter.to_data(campaign.base_loop()), PhaseLoop: campaign.base_phases()}
    usual = known.get(kind)
    for path in texts_in(kind):
        data = put(usual, kind, path, "CANARY")
        assert "CANARY" in str(msgspec.to_builtins(data, str_keys=True)), path
        msgspec.convert(data, kind)


def test_every_command_every_script_and_every_setting_is_tried() -> None:
    names = {name.split()[1] for name, _ in commands.all_calls("A1", "x") if name.startswith("aot ")}
    assert names == set(COMMANDS) - set(commands.NOT_CALLED)
    assert {name for name, _ in commands.all_calls("A1", "x")} >= set(MODULES)
    assert {key for table, key, _ in settings.places() if not table} == set(tables.KEYS)


def test_a_trap_notices_what_is_run_and_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    trap = Trap(tmp_path)
    trap.set()
    before = trap.files()
    assert trap.executed() == []
    for name in ("substitution", "quotes", "lines", "program"):
        subprocess.run(["/bin/sh", "-c", trap.texts()[name]], capture_output=True, check=False)
        assert trap.executed() != [], name
    (tmp_path / "project" / "new").write_text("x")
    assert set(trap.files()) - set(before) == {"project/new"}


def test_texts_in_state_files_phase_files_payloads_and_settings(tmp_path: Path) -> None:
    counts = campaign.campaign(tmp_path, Deadline(120), most=40, seed=3)
    assert sum(one.cases for one in counts) == 40
    assert [problem for one in counts for problem in one.problems] == []
    assert sum(one.injections for one in counts) == 0


@pytest.mark.parametrize("name", LINKED)
def test_links_and_paths_that_lead_out(tmp_path: Path, name: str) -> None:
    assert hostility.endured(tmp_path / "case", LINKED[name]) == ([], 0)


@pytest.mark.parametrize(
    "name",
    ["answer = quotes", "answer = terminal", "proposal = substitution", "doctor, claude", "doctor, codex"],
)
def test_answers_of_agents_and_programs_of_a_repository(tmp_path: Path, name: str) -> None:
    case = next(case for _, one, case in hostility.cases() if one == name)
    assert hostility.endured(tmp_path / "case", case) == ([], 0)


def test_a_decomposition_of_nothing_does_not_stop_a_correction(project: Path) -> None:
    """The file decomposes an atom that it does not have."""
    data = emitter.to_data(a_loop(atom("A1")))
    data["decompositions"] = [{"parent": "gone", "children": ["A1"], "reason": "x"}]
    write_loop(project, msgspec.convert(data, Loop))
    code, screen = on_terminal("redirect", "--yes", "--set", "max_iterations=9")
    assert code == 0, screen.text


def test_what_is_not_asked_of_an_agent_cannot_steer_the_terminal(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", run="true \x1b]0;owned\x07\x1b[2J")))
    code, screen = on_terminal("prompt", "A1")
    assert code == 0
    assert "\x1b]0;" not in screen.shown
    assert "\x1b[2J" not in screen.shown.replace("\r\x1b[2K", "")
