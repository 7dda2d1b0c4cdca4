"""The phases of a feature are shown as what they are: in their order, with their turns and their budget."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.cli.live.picture.frame import draw
from aotloop.cli.live.run_view import Picture
from aotloop.core.phases.model import ErrorRecord, PhaseLoop
from aotloop.execution import run_events
from tests.cli.live.running import AT, NOW
from tests.core.phases.loops import a_phase_loop
from tests.loops import a_loop, atom


def a_feature_at_work() -> PhaseLoop:
    return replace(
        a_phase_loop(phase="work"),
        feature="Users can log in",
        phases_completed=("brainstorm", "spec_test", "deepen"),
        errors=(ErrorRecord(phase="plan", message="left by force", iteration=1, timestamp=AT, forced=True),),
        global_iteration=7,
        phase_iteration=2,
        max_iterations=50,
        spent_usd=1.25,
        budget_limit_usd=20,
    )


def text(picture: Picture, width: int = 80) -> list[str]:
    return ["".join(piece for piece, _ in line).rstrip() for line in draw(picture, width, 30, NOW, colour=False).lines]


def test_a_feature_at_work_at_eighty_columns() -> None:
    picture = Picture(a_feature_at_work())
    picture.take(run_events.AttemptBegan(at=AT, atom="work", attempt=8, role="worker", agent="claude"))
    picture.set_line(8, "14 passed")
    shown = text(picture)
    assert shown[0] == "Users can log in"
    assert shown[1].endswith("4 of 9 phases done")
    assert shown[2] == "turn 7 of 50 · $1.25 of $20.00 · 1 attempt under way"
    rows = "\n".join(shown)
    assert "left by force: the plan" in rows
    assert "claude · try 3" in rows
    assert "│ 14 passed" in rows
    assert "← work" in rows
    assert "fix" not in rows


def test_a_feature_that_waits_for_a_person_is_called_so() -> None:
    waiting = replace(a_phase_loop(phase="spec_test"), status="waiting")
    assert text(Picture(waiting))[1].startswith("waiting")


def test_turns_without_a_receipt_are_counted_when_no_agent_is_at_work() -> None:
    assert any("failed 2 times" in line for line in text(Picture(a_feature_at_work())))
    assert any("2 failed" in line for line in text(Picture(a_feature_at_work()), 60))


def test_an_overview_follows_its_own_kind_of_loop_only() -> None:
    picture = Picture(a_feature_at_work())
    picture.set_loop(replace(a_feature_at_work(), phase="review"))
    assert picture.overview.looks[picture.overview.row_of["review"]] == "in_progress"
    assert picture.bound is None
    picture.set_loop(a_loop(atom("A1")))
    assert [row.name for row in picture.overview.rows] == ["A1"]
    picture.set_loop(a_feature_at_work())
    assert "work" in picture.overview.row_of
