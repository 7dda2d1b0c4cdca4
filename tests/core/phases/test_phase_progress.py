"""Each phase is done, forced, under way, skipped or still to come; rounds of fixing are expected only if needed."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.model import PHASES, ErrorRecord
from aotloop.core.phases.phase_progress import expected_phases, state_of
from tests.core.phases.loops import AT, a_phase_loop


def test_what_is_past_is_done_or_skipped_and_the_rest_is_to_come() -> None:
    loop = replace(a_phase_loop(phase="compound"), skip_brainstorm=True, phases_completed=("plan", "review"))
    states = {phase: state_of(loop, phase) for phase in PHASES}
    assert (states["brainstorm"], states["plan"], states["compound"]) == ("skipped", "done", "now")
    assert (states["fix"], states["re_review"]) == ("skipped", "skipped")
    assert (states["test"], states["ship"]) == ("", "")


def test_a_phase_that_was_left_by_force_is_told_from_one_that_is_done() -> None:
    forced = ErrorRecord(phase="plan", message="left by force", iteration=1, timestamp=AT, forced=True)
    loop = replace(a_phase_loop(phase="work"), phases_completed=("brainstorm",), errors=(forced,))
    assert (state_of(loop, "brainstorm"), state_of(loop, "plan")) == ("done", "forced")


def test_of_a_completed_loop_everything_with_a_receipt_is_done() -> None:
    loop = replace(a_phase_loop(phase="ship"), status="completed", receipts=())
    assert state_of(loop, "ship") == "skipped"


def test_rounds_of_fixing_are_expected_once_a_review_found_something() -> None:
    assert not {"fix", "re_review"} & set(expected_phases(a_phase_loop(phase="work")))
    assert {"fix", "re_review"} <= set(expected_phases(a_phase_loop(phase="fix")))
    after = replace(a_phase_loop(phase="compound"), phases_completed=("fix", "re_review"))
    assert {"fix", "re_review"} <= set(expected_phases(after))


def test_a_brainstorm_that_is_skipped_is_not_expected() -> None:
    loop = replace(a_phase_loop(phase="plan"), skip_brainstorm=True, phases_completed=())
    assert "brainstorm" not in expected_phases(loop)
    assert "brainstorm" in expected_phases(replace(loop, skip_brainstorm=False))
