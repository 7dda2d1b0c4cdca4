"""A phase loop is begun, bound, stopped, resumed, cancelled and noted down; what says nothing new changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.phases.effects import Enter, GoOn, Stop
from aotloop.core.phases.events import (
    ArtifactsNamed,
    CheckpointWritten,
    ErrorMet,
    LoopCancelled,
    LoopResumed,
    LoopStopped,
    SessionBound,
)
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import Artifacts, Checkpoint, PhaseLoop
from aotloop.core.phases.status_changes import begin
from aotloop.errors import IllegalEvent
from tests.core.phases.loops import AT, LATER, a_phase_loop


def stopped(**given: Any) -> PhaseLoop:
    return advance(a_phase_loop(**given), LoopStopped(at=AT, reason="user: later"))[0]


def test_it_begins_with_the_brainstorm_unless_that_is_skipped() -> None:
    new = PhaseLoop(feature="x", phase="plan", started_at=AT, last_updated=AT)
    for skip, first in ((False, "brainstorm"), (True, "plan")):
        loop, effects = begin(replace(new, skip_brainstorm=skip))
        assert effects == (Enter(phase=first),)  # type: ignore[arg-type]
        assert (loop.phase, loop.phase_started_at) == (first, AT)


def test_how_it_was_stopped_or_cancelled_is_told_and_dated() -> None:
    loop, effects = advance(a_phase_loop(), LoopStopped(at=LATER, reason="user: later"))
    assert effects == (Stop(reason="user: later"),)
    assert (loop.status, loop.stop_reason, loop.last_updated) == ("stopped", "user: later", LATER)
    loop, effects = advance(a_phase_loop(), LoopCancelled(at=LATER, reason="user: no"))
    assert effects == (Stop(reason="user: no"),)
    assert (loop.status, loop.stop_reason, loop.last_updated) == ("cancelled", "user: no", LATER)


def test_resuming_dates_it_and_starts_the_iterations_of_the_phase_anew() -> None:
    loop, effects = advance(stopped(phase="work", phase_iteration=4, global_iteration=9), LoopResumed(at=LATER))
    assert effects == (GoOn(phase="work"),)
    assert (loop.status, loop.stop_reason, loop.last_updated) == ("running", None, LATER)
    assert (loop.phase_iteration, loop.global_iteration) == (0, 9)


def test_a_running_loop_that_is_resumed_takes_new_limits_and_keeps_its_count() -> None:
    loop = a_phase_loop(phase="work", phase_iteration=4)
    assert advance(loop, LoopResumed(at=LATER)) == (loop, ())
    limits = {
        "max_iterations": 60, "max_phase_iterations": 12, "max_fix_cycles": 5, "budget_limit_usd": 7.0,
        "enforce_budget": True,
    }  # fmt: skip
    after, effects = advance(loop, LoopResumed(at=LATER, **limits))  # type: ignore[arg-type]
    assert effects == ()
    assert after == replace(loop, **limits, last_updated=LATER)


def test_resuming_needs_an_iteration_that_is_left_in_all_and_in_the_phase() -> None:
    loop = stopped(phase="work", global_iteration=5)
    for most in (4, 5):
        with pytest.raises(IllegalEvent, match=f"5 of {most} iterations are used up"):
            advance(loop, LoopResumed(at=LATER, max_iterations=most))
    assert advance(loop, LoopResumed(at=LATER, max_iterations=6))[0].status == "running"
    with pytest.raises(IllegalEvent, match="one iteration at least"):
        advance(loop, LoopResumed(at=LATER, max_phase_iterations=0))
    assert advance(loop, LoopResumed(at=LATER, max_phase_iterations=1))[0].max_phase_iterations == 1


def test_a_session_that_drives_it_already_is_no_news_and_another_is_dated() -> None:
    loop, effects = advance(a_phase_loop(), SessionBound(at=LATER, session_id="one"))
    assert (loop.session_id, loop.last_updated, effects) == ("one", LATER, ())
    assert advance(loop, SessionBound(at="later still", session_id="one")) == (loop, ())
    assert advance(stopped(), SessionBound(at=LATER, session_id=None)) == (stopped(), ())


def test_a_session_that_leaves_frees_the_loop() -> None:
    loop, _ = advance(a_phase_loop(), SessionBound(at=LATER, session_id="one"))
    with pytest.raises(IllegalEvent, match="the session one drives"):
        advance(loop, SessionBound(at=LATER, session_id=None))
    free, _ = advance(loop, SessionBound(at=LATER, session_id=None, take_over=True))
    assert advance(free, SessionBound(at=LATER, session_id="two"))[0].session_id == "two"


def test_notes_are_dated_and_come_after_those_before() -> None:
    loop = a_phase_loop(phase="work")
    for summary in ("half", "all"):
        note = Checkpoint(phase="work", summary=summary, timestamp=AT)
        loop, effects = advance(loop, CheckpointWritten(at=LATER, checkpoint=note))
        assert effects == ()
    assert ([one.summary for one in loop.checkpoints], loop.last_updated) == (["half", "all"], LATER)
    for message in ("first", "second"):
        loop, effects = advance(loop, ErrorMet(at="later still", message=message))
        assert effects == ()
    assert ([one.message for one in loop.errors], loop.last_updated) == (["first", "second"], "later still")


def test_artifacts_are_named_one_by_one_and_the_same_name_is_no_news() -> None:
    loop = a_phase_loop()
    for named in ({"branch": "b"}, {"pr_url": "https://example.com/1"}, {"progress_file": "p.md"}):
        loop, effects = advance(loop, ArtifactsNamed(at=LATER, **named))
        assert effects == ()
    assert loop.artifacts == Artifacts(branch="b", pr_url="https://example.com/1", progress_file="p.md")
    assert loop.last_updated == LATER
    assert advance(loop, ArtifactsNamed(at="later still", branch="b")) == (loop, ())
