"""Redirecting from a session: the same refusals as `aot redirect`, and nothing runs that was not accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.statefile.reader import decode
from aotloop.trust.accepted_commands import is_trusted
from aotloop.trust.objectives import agree, agreed
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.scripts.calling import call

SAID = ("--description", "as the customer said")


def state(project: Path) -> Loop:
    return decode((project / ".claude" / "aot-loop-state.md").read_bytes())


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


def edited_behind_its_back(project: Path) -> Path:
    """A stopped loop whose goal is no longer the goal that a person agreed on."""
    loop = a_loop(atom("A1"), status="stopped", command="false")
    path = write_accepted(project, loop)
    agree(str(path), replace(loop.objective, goal="What was agreed on"))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("alignment", "--deliverables", "something else"),
        ("constraints", "--constraints", "{max_iterations: 99}"),
    ],
)
def test_an_objective_that_was_edited_in_the_file_is_not_agreed_to_by_a_correction(
    project: Path, words: tuple[str, ...]
) -> None:
    path = edited_behind_its_back(project)
    before = path.read_bytes()
    error = call("apply_correction", *words, *SAID, code=1)["error"]
    assert "without the agreement of a person" in error
    assert "What was agreed on" in error
    assert path.read_bytes() == before
    known = agreed(str(path))
    assert known is not None
    assert known.goal == "What was agreed on"


def test_a_correction_of_the_graph_leaves_the_agreement_as_it_was(project: Path) -> None:
    path = edited_behind_its_back(project)
    call("apply_correction", "add_atom", "--atom-description", "more", *SAID)
    known = agreed(str(path))
    assert known is not None
    assert known.goal == "What was agreed on"


def test_a_loop_is_not_started_by_hand_with_an_objective_that_was_edited_in_the_file(project: Path) -> None:
    edited_behind_its_back(project)
    assert "behind the loop's back" in call("set_status", "running", code=1)["error"]
    assert state(project).control.status == "stopped"
