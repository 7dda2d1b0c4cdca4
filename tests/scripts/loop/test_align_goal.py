"""Aligning from a session: nothing is written that was not agreed on, nor run that was not accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.statefile.reader import decode
from aotloop.trust.accepted_commands import is_trusted
from aotloop.trust.objectives import agreed
from tests.scripts.calling import call

OBJECTIVE = """\
goal: Guests are greeted
background_intent: They should feel welcome
deliverables: hello.txt
definition_of_done: There is a greeting
base_case:
  checklist:
    - item: it greets
      check: {type: command, value: "touch ran; grep hello hello.txt"}
    - item: nothing is broken
      check: {type: not_file, value: broken}
atoms:
  - {id: A1, description: Write it}
  - {id: A2, description: Sing it, or_group: way, depends_on: [A1]}
  - {id: A3, description: Say it, or_group: way, depends_on: [A1]}
"""


def file_of(project: Path) -> Path:
    return project / ".claude" / "aot-loop-state.md"


def state(project: Path) -> Loop:
    return decode(file_of(project).read_bytes())


def align(*words: str, objective: str = OBJECTIVE, code: int = 0) -> dict[str, Any]:
    return call("align_goal", "-", *words, code=code, input=objective)


def test_an_objective_is_looked_at_without_running_or_writing_anything(project: Path) -> None:
    told = align()
    assert (told["success"], told["written"], told["missing"]) == (True, False, [])
    assert (told["atoms"], told["commands"]) == (["A1", "A2", "A3"], ["touch ran; grep hello hello.txt"])
    assert not (project / "ran").exists()
    assert not file_of(project).exists()


def test_what_is_missing_is_told_and_cannot_be_agreed_on(project: Path) -> None:
    told = align("--agreed", objective="goal: Be better", code=1)
    assert told["missing"] == [
        f"objective.{one}" for one in ("base_case", "background_intent", "deliverables", "definition_of_done")
    ]
    assert not file_of(project).exists()


def test_it_is_tried_before_it_is_agreed_on(project: Path) -> None:
    told = align("--try")
    assert (told["written"], told["base_case"]["passed"], told["already_holding"]) == (
        False,
        False,
        ["nothing is broken"],
    )
    assert (project / "ran").exists()
    assert not file_of(project).exists()
    assert "--agreed" in align("--try", "--agreed", code=2)["error"]


def test_what_was_agreed_on_is_written_and_its_commands_still_wait_for_the_person(project: Path) -> None:
    told = align("--agreed", "--request", "make them feel\nwelcome")
    assert (told["written"], told["new"], len(told["accept"])) == (True, True, 12)
    loop = state(project)
    assert (loop.objective.goal, loop.control.status) == ("Guests are greeted", "pending")
    assert loop.or_groups["way"].choices == ("A2", "A3")
    assert "make them feel\nwelcome" in file_of(project).read_text()
    assert not is_trusted(str(file_of(project)), commands_of(loop))
    assert agreed(str(file_of(project))) == loop.objective
    assert call("check_gate")["ready"] is True


def test_the_objective_is_sent_once_and_tried_and_agreed_on_by_its_digest(project: Path) -> None:
    name = align()["draft"]
    tried = call("align_goal", name, "--try")
    assert (tried["draft"], tried["already_holding"]) == (name, ["nothing is broken"])
    told = call("align_goal", name, "--agreed", "--request", "welcome them")
    assert (told["written"], told["draft"]) == (True, name)
    assert state(project).objective.goal == "Guests are greeted"
    assert "no draft is kept" in call("align_goal", name, "--agreed", code=1)["error"], "it was agreed on once"


def test_a_digest_of_something_else_than_what_was_shown_last_is_refused(project: Path) -> None:
    name = align()["draft"]
    other = align(objective=OBJECTIVE.replace("welcome", "at home"))["draft"]
    assert name != other
    assert f"that is {other}" in call("align_goal", name, "--agreed", code=1)["error"]
    assert not file_of(project).exists()


def test_a_loop_is_aligned_again_unless_it_runs(project: Path) -> None:
    align("--agreed")
    told = align("--agreed", objective="goal: Guests are greeted twice")
    assert (told["new"], told["atoms"]) == (False, ["A1", "A2", "A3"])
    assert state(project).objective.goal == "Guests are greeted twice"
    call("set_status", "running")
    before = file_of(project).read_bytes()
    assert "/aot-loop:redirect" in align("--agreed", objective="goal: Thrice", code=1)["error"]
    assert file_of(project).read_bytes() == before


@pytest.mark.parametrize(
    ("objective", "why"), [("goal: [", "the objective"), ("gaol: x", "goal"), ("or_groups: {g: {}}", "no atoms")]
)
def test_what_cannot_be_understood_is_refused(project: Path, objective: str, why: str) -> None:
    assert why in align("--agreed", objective=objective, code=1)["error"]
    assert not file_of(project).exists()


def test_a_file_can_be_named_and_has_to_be_there(project: Path) -> None:
    (project / "objective.yaml").write_text(OBJECTIVE)
    assert call("align_goal", "objective.yaml")["missing"] == []
    assert "cannot be read" in call("align_goal", "nowhere.yaml", code=2)["error"]


def test_it_tells_which_items_atoms_may_cover_and_how_often_is_tried(project: Path) -> None:
    told = align()
    assert told["proposed_covers"] == {"A1": [], "A2": [], "A3": []}
    assert told["most_attempts"] == 30
    assert any("3 atoms have no check (A1, A2, A3)" in one for one in told["warnings"])
    covering = OBJECTIVE.replace("description: Write it", "description: Write what greets, covers: [nothing is broken]")
    covering = covering.replace("description: Sing it", "description: Sing so that it greets")
    told = align("--agreed", objective=covering)
    assert told["proposed_covers"] == {"A2": ["it greets"], "A3": []}
    assert state(project).atoms[0].covers == ("nothing is broken",)
    assert align(objective=covering.replace("[nothing is broken]", "[nothing is brokn]"), code=1)["missing"] == [
        "atoms[0].covers: the base case has no item 'nothing is brokn'; did you mean nothing is broken?"
    ]
