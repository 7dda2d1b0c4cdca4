"""Aligning and redirecting from a session: nothing is written that was not agreed on, nor run that was not accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.statefile.reading import decode
from aotloop.trust import is_trusted
from aotloop.trust.objectives import agreed
from tests.loops import a_loop, atom, write_accepted, write_loop
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


# --- redirecting -------------------------------------------------------------------------------------------------


def test_a_redirect_gives_up_what_is_under_way_and_waits_for_a_correction(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="in_progress"), atom("A2")))
    epoch = state(project).control.epoch
    assert call("request_redirect")["interrupted"] == ["A1"]
    loop = state(project)
    assert (loop.control.redirect_requested, loop.atoms[0].status) == (True, "pending")
    assert loop.control.epoch == epoch + 1, "results that come late are of an older epoch"
    call("apply_correction", "remove_atom", "--atom", "A2", "--description", "not needed")
    assert state(project).control.redirect_requested is False


def test_a_redirect_that_changes_nothing_is_cancelled(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    call("request_redirect")
    assert call("request_redirect", "--cancel") == {"success": True, "redirect_requested": False, "interrupted": []}
    assert state(project).control.redirect_requested is False


def test_a_loop_that_has_not_begun_has_no_direction_to_change(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    assert "only a running or stopped loop" in call("request_redirect", code=1)["error"]


def test_a_corrected_objective_is_agreed_on_but_new_commands_are_not_accepted(project: Path) -> None:
    path = write_accepted(project, a_loop(atom("A1"), command="false"))
    said = ("--description", "as the customer said")
    call("apply_correction", "alignment", "--goal", "Better", *said)
    loop = state(project)
    assert agreed(str(path)) == loop.objective
    assert is_trusted(str(path), commands_of(loop))
    call("apply_correction", "alignment", "--base-case", "{type: command, value: touch ran}", *said)
    assert not is_trusted(str(path), commands_of(state(project)))


def test_a_correction_names_what_no_longer_counts(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1", status="resolved"), atom("A3")))
    words = ("override_binding", "--atom", "A1", "--summary", "otherwise", "--description", "it was wrong")
    assert call("apply_correction", *words)["undone"] == ["A2"]


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
