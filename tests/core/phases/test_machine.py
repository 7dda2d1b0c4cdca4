"""From an idea to shipped: in order, by proof or by force on record, and never further than that."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from prove.phases import PROVEN, RED

from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn, Stop, Warn
from aotloop.core.phases.events import (
    AcceptanceRun,
    ApprovalGiven,
    ApprovalRefused,
    ArtifactsNamed,
    CheckpointWritten,
    ErrorMet,
    IterationEnded,
    LoopCancelled,
    LoopResumed,
    LoopStopped,
    MoneySpent,
    PhaseEvent,
    PhaseForced,
    SessionBound,
)
from aotloop.core.phases.machine import _HANDLERS, advance
from aotloop.core.phases.model import PHASES, AcceptanceVerdict, Checkpoint, Phase, PhaseLoop
from aotloop.core.phases.status_changes import begin
from aotloop.errors import IllegalEvent
from tests.core.phases.loops import AT, LATER, a_phase_loop, ended, facts_for, filed, promised, receipt, walk_to

COMPLETED_WITHOUT_FINDINGS = tuple(phase for phase in PHASES if phase not in ("fix", "re_review"))


def test_every_event_has_a_handler() -> None:
    assert set(_HANDLERS) == set(PhaseEvent.__subclasses__())


def test_a_whole_walk_without_findings() -> None:
    loop = walk_to("ship", a_phase_loop())
    loop, effects = advance(loop, filed("ship"))
    assert effects == (AskForPromise(promise="SHIPPED"),)
    assert loop.status == "running"
    loop, effects = advance(loop, promised())
    assert effects == (Finish(),)
    assert loop.status == "completed"
    assert loop.phases_completed == COMPLETED_WITHOUT_FINDINGS
    assert [one.phase for one in loop.receipts] == list(COMPLETED_WITHOUT_FINDINGS)
    assert loop.errors == ()


def test_it_begins_with_the_plan_if_the_brainstorm_is_skipped() -> None:
    loop, effects = begin(
        PhaseLoop(feature="x", phase="brainstorm", skip_brainstorm=True, started_at=AT, last_updated=AT)
    )
    assert (loop.phase, loop.phase_started_at, effects) == ("plan", AT, (Enter(phase="plan"),))
    shipped, _ = advance(advance(walk_to("ship", loop), filed("ship"))[0], promised())
    assert shipped.status == "completed"
    assert "brainstorm" not in shipped.phases_completed


def test_a_receipt_names_its_artifact_and_dates_the_next_phase() -> None:
    loop, effects = advance(a_phase_loop(phase="plan", phase_iteration=3), filed("plan"))
    assert effects == (Enter(phase="spec_test"),)
    assert loop.artifacts.plan_file == "docs/plan.md"
    assert (loop.phase_iteration, loop.phase_started_at, loop.last_updated) == (0, LATER, LATER)


def test_a_receipt_that_does_not_verify_sends_it_back_with_the_reason() -> None:
    loop, effects = advance(a_phase_loop(phase="plan"), filed("plan", artifact_exists=False))
    assert isinstance(effects[0], GoOn)
    assert "docs/plan.md does not exist" in effects[0].reasons[0]
    assert (loop.phase, loop.receipts, loop.phases_completed) == ("plan", (), ())
    assert loop.errors[0].refused
    assert "docs/plan.md does not exist" in loop.errors[0].message


def test_refusals_of_one_turn_are_one_record() -> None:
    loop = a_phase_loop(phase="plan")
    for _ in range(50):
        loop, _ = advance(loop, filed("plan", commit_known=False))
    loop, _ = advance(loop, filed("plan", plan_names_files_and_steps=False))
    assert len(loop.errors) == 1
    assert "names no files" in loop.errors[0].message
    loop, _ = ended(1, loop)
    loop, _ = advance(loop, filed("plan", commit_known=False))
    assert [error.iteration for error in loop.errors] == [0, 1]


# --- limits ------------------------------------------------------------------------------------------------------


def test_no_phase_is_passed_by_force_without_the_persons_word() -> None:
    loop, effects = ended(10, a_phase_loop(phase="plan"))
    assert isinstance(effects[0], Stop)
    assert effects[0].reason.startswith("limit: plan: not completed in 10 iterations; `aot ship` tries again")
    assert (loop.phase, loop.status, loop.errors) == ("plan", "stopped", ())
    resumed, _ = advance(loop, LoopResumed(at=LATER))
    forced, _ = advance(resumed, PhaseForced(at=LATER, reason="a person: enough"))
    assert (forced.phase, forced.errors[0].forced) == ("spec_test", True)


def test_the_same_failure_is_not_paid_thirty_times() -> None:
    loop = a_phase_loop(phase="plan", max_phase_iterations=30)
    for number in range(3):
        loop, _ = advance(loop, ErrorMet(at=LATER, message=f"exit 1 after 0.{number} s"))
        loop, effects = ended(1, loop)
    cause = "plan failed 3 times in the same way (exit 1 after 0.2 s)"
    reason = f"blocked: {cause}; remove the cause, then `aot ship` tries again"
    assert (effects, loop.status) == ((Stop(reason=reason),), "stopped")


def test_different_failures_may_be_tried_further() -> None:
    loop = a_phase_loop(phase="plan", max_phase_iterations=30)
    for message in ("one", "two", "two"):
        loop, _ = advance(loop, ErrorMet(at=LATER, message=message))
        loop, _ = ended(1, loop)
    assert loop.status == "running"


def test_at_the_limit_of_a_phase_a_session_leaves_it_by_force_on_record_and_not_as_completed() -> None:
    loop, effects = ended(10, a_phase_loop(phase="plan", session_id="s"))
    assert effects == (Enter(phase="spec_test", forced="not completed in 10 iterations"),)
    assert loop.phases_completed == ()
    assert [(error.phase, error.forced, error.iteration) for error in loop.errors] == [("plan", True, 10)]
    assert (loop.phase, loop.phase_iteration, loop.global_iteration) == ("spec_test", 0, 10)


@pytest.mark.parametrize("phase", ["spec_test", "ship"])
def test_nothing_forces_it_out_of(phase: Phase) -> None:
    loop, effects = ended(10, a_phase_loop(phase=phase), tests_pass=True)
    assert isinstance(effects[0], Stop)
    assert effects[0].reason.startswith(f"limit: {phase}")
    assert (loop.phase, loop.status, loop.stop_reason) == (phase, "stopped", effects[0].reason)


@pytest.mark.parametrize(("tests_pass", "phase"), [(True, "ship"), (False, "test"), (None, "test")])
def test_test_is_left_by_force_only_while_the_acceptance_tests_pass(tests_pass: bool | None, phase: Phase) -> None:
    loop, _ = ended(10, a_phase_loop(phase="test", session_id="s"), tests_pass=tests_pass)
    assert loop.phase == phase
    assert loop.status == ("running" if tests_pass else "stopped")


def test_the_limit_of_all_iterations_stops_it_before_a_phase_is_forced() -> None:
    loop, effects = ended(4, a_phase_loop(phase="work", max_iterations=4, max_phase_iterations=4))
    assert effects == (Stop(reason="limit: 4 iterations are used up, in work"),)
    assert (loop.phase, loop.status) == ("work", "stopped")
    with pytest.raises(IllegalEvent, match="the loop is stopped"):
        ended(1, loop)


def test_what_was_forced_owes_no_receipt_but_everything_else_does() -> None:
    loop, _ = ended(10, replace(walk_to("compound", a_phase_loop()), session_id="s"))
    loop, _ = advance(replace(walk_to("ship", loop), session_id=None), filed("ship"))
    assert advance(loop, promised())[0].status == "completed"
    without = replace(loop, receipts=tuple(one for one in loop.receipts if one.phase != "work"))
    after, effects = advance(without, promised())
    assert effects == (GoOn(phase="ship", reasons=("there is no receipt of work",)),)
    assert after == without


# --- rounds of fixing --------------------------------------------------------------------------------------------


def test_rounds_of_fixing_are_counted_and_bounded() -> None:
    loop = walk_to("compound", a_phase_loop(max_fix_cycles=2, session_id="s"), findings=3)
    assert loop.fix_review_cycles == 2
    assert [(error.phase, error.forced) for error in loop.errors] == [("re_review", True)]
    assert "3 findings are open after 2 of 2 rounds" in loop.errors[0].message
    assert "re_review" not in loop.phases_completed
    assert loop.phases_completed.count("fix") == 1


def test_a_round_that_leaves_nothing_open_ends_them() -> None:
    loop = walk_to("re_review", a_phase_loop(), findings=1)
    loop, effects = advance(loop, filed("re_review"))
    assert effects == (Enter(phase="compound"),)
    assert loop.phases_completed[-2:] == ("fix", "re_review")
    assert (loop.fix_review_cycles, loop.errors) == (0, ())


def test_without_rounds_findings_are_left_open_on_record() -> None:
    loop, _ = advance(
        walk_to("review", a_phase_loop(max_fix_cycles=0, session_id="s")), filed("review", open_findings=1)
    )
    assert (loop.phase, loop.errors[0].forced) == ("compound", True)


def test_a_loop_that_was_fixed_owes_the_receipts_of_its_rounds() -> None:
    loop = walk_to("re_review", a_phase_loop(), findings=1)
    loop, _ = advance(walk_to("ship", loop), filed("ship"))
    without = replace(loop, receipts=tuple(one for one in loop.receipts if one.phase != "re_review"))
    assert "there is no receipt of re_review" in str(advance(without, promised())[1])
    assert advance(loop, promised())[0].status == "completed"


# --- the acceptance tests and the person -------------------------------------------------------------------------


def test_a_person_is_asked_about_the_acceptance_tests_and_nothing_is_spent_meanwhile() -> None:
    loop, effects = advance(a_phase_loop(phase="spec_test"), filed("spec_test"))
    assert effects == (AskPerson(artifact="docs/spec_test.md"),)
    assert (loop.status, loop.phase) == ("waiting", "spec_test")
    for event in (IterationEnded(at=LATER), filed("spec_test"), promised()):
        with pytest.raises(IllegalEvent, match="the loop is waiting; it allows: answer, cancel, stop"):
            advance(loop, event)
    loop, effects = advance(loop, ApprovalGiven(at=LATER, facts=RED))
    assert (loop.phase, loop.status, loop.phases_completed) == ("deepen", "running", ("spec_test",))


def test_nobody_is_asked_if_the_review_of_tests_is_skipped() -> None:
    loop, _ = advance(a_phase_loop(phase="spec_test", skip_test_review=True), filed("spec_test"))
    assert (loop.phase, loop.status) == ("deepen", "running")


@pytest.mark.parametrize("facts", [replace(RED, tests_untouched=False), PROVEN, replace(RED, artifact_exists=False)])
def test_agreeing_to_tests_that_changed_meanwhile_sends_it_back(facts: object) -> None:
    waiting, _ = advance(a_phase_loop(phase="spec_test"), filed("spec_test"))
    loop, effects = advance(waiting, ApprovalGiven(at=LATER, facts=facts))  # type: ignore[arg-type]
    assert (loop.phase, loop.status, loop.receipts) == ("spec_test", "running", ())
    assert isinstance(effects[0], GoOn)
    assert effects[0].reasons


def test_a_refusal_tells_why_and_takes_the_receipt_back() -> None:
    waiting, _ = advance(a_phase_loop(phase="spec_test"), filed("spec_test"))
    loop, effects = advance(waiting, ApprovalRefused(at=LATER, reason="no test of the logout"))
    assert effects == (GoOn(phase="spec_test", reasons=("no test of the logout",)),)
    assert (loop.status, loop.receipts) == ("running", ())
    assert "no test of the logout" in loop.errors[-1].message


def test_stopped_while_it_waits_it_has_to_be_asked_again() -> None:
    loop, _ = advance(a_phase_loop(phase="spec_test"), filed("spec_test"))
    loop, _ = advance(loop, LoopStopped(at=LATER, reason="user: later"))
    loop, _ = advance(loop, LoopResumed(at=LATER))
    assert (loop.phase, loop.status) == ("spec_test", "running")
    loop, effects = advance(loop, filed("spec_test"))
    assert effects == (AskPerson(artifact="docs/spec_test.md"),)
    assert [one.phase for one in loop.receipts] == ["spec_test"]


@pytest.mark.parametrize("event", [ApprovalGiven(at=LATER, facts=RED), ApprovalRefused(at=LATER, reason="no")])
def test_there_is_nothing_to_answer_while_nobody_was_asked(event: PhaseEvent) -> None:
    with pytest.raises(IllegalEvent, match="the loop is running"):
        advance(a_phase_loop(phase="spec_test"), event)


# --- the promise -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase != "ship"])
def test_a_promise_outside_of_ship_changes_nothing(phase: Phase) -> None:
    loop = a_phase_loop(phase=phase, receipts=tuple(receipt(one) for one in PHASES))
    after, effects = advance(loop, promised())
    assert after == loop
    assert effects == (GoOn(phase=phase, reasons=(f"the promise counts only in ship, and the loop is in {phase}",)),)


def test_a_promise_with_failing_tests_or_lost_artifacts_or_other_words_does_not_count() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    for event, why in (
        (promised(ship=RED), "ship: the acceptance tests do not pass"),
        (promised(ship=replace(PROVEN, tests_untouched=False)), "ship: the acceptance tests were changed"),
        (promised(ship=replace(PROVEN, tests_pass=None)), "ship: the acceptance tests do not pass"),
        (promised(plan=replace(PROVEN, artifact_has_content=False)), "plan: the artifact docs/plan.md"),
        (promised(work=replace(PROVEN, commit_known=False)), "work: the commit a1b2c3d"),
        (promised("shipped"), "the promise is 'SHIPPED', word for word"),
    ):
        after, effects = advance(loop, event)
        assert after == loop
        assert why in str(effects)


def test_a_loop_put_into_ship_by_hand_is_not_completed_by_a_promise() -> None:
    forged = a_phase_loop(phase="ship", phases_completed=PHASES[:-1])
    after, effects = advance(forged, promised())
    assert after == forged
    assert "there is no receipt of spec_test" in str(effects)


def test_a_record_of_force_does_not_excuse_the_acceptance_tests() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    record = replace(advance(loop, ErrorMet(at=LATER, message="x"))[0].errors[0], phase="spec_test", forced=True)
    kept = tuple(one for one in loop.receipts if one.phase != "spec_test")
    after, effects = advance(replace(loop, errors=(record,), receipts=kept), promised())
    assert after.status == "running"
    assert "there is no receipt of spec_test" in str(effects)


def test_only_the_session_that_drives_the_loop_promises_and_iterates() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    loop, _ = advance(loop, SessionBound(at=LATER, session_id="one"))
    for event in (promised(session_id="two"), promised(), IterationEnded(at=LATER, session_id="two")):
        with pytest.raises(IllegalEvent, match="the session one drives the loop"):
            advance(loop, event)
    assert advance(loop, promised(session_id="one"))[0].status == "completed"


# --- the loop as a whole -----------------------------------------------------------------------------------------

EVENTS: list[PhaseEvent] = [
    IterationEnded(at=LATER),
    filed("ship"),
    promised(),
    ApprovalGiven(at=LATER, facts=RED),
    ApprovalRefused(at=LATER, reason="no"),
    CheckpointWritten(at=LATER, checkpoint=Checkpoint(phase="ship", summary="s", timestamp=AT)),
    ErrorMet(at=LATER, message="m"),
    ArtifactsNamed(at=LATER, branch="b"),
    SessionBound(at=LATER, session_id="s"),
    LoopStopped(at=LATER, reason="user: stop"),
    LoopResumed(at=LATER),
    MoneySpent(at=LATER, of="1", usd=1.0),
    PhaseForced(at=LATER, reason="now"),
]


@pytest.mark.parametrize("status", ["completed", "cancelled"])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_what_is_over_stays_over(status: str, event: PhaseEvent) -> None:
    with pytest.raises(IllegalEvent, match=f"the loop is {status}"):
        advance(a_phase_loop(phase="ship", status=status), event)


def test_stopped_and_resumed_it_goes_on_with_new_iterations_of_the_phase() -> None:
    loop, _ = ended(10, a_phase_loop(phase="spec_test"))
    assert loop.status == "stopped"
    loop, effects = advance(loop, LoopResumed(at=LATER))
    assert effects == (GoOn(phase="spec_test"),)
    assert (loop.status, loop.stop_reason, loop.phase_iteration, loop.global_iteration) == ("running", None, 0, 10)


def test_beyond_its_iterations_it_is_resumed_only_with_more_of_them() -> None:
    loop, _ = ended(2, a_phase_loop(phase="work", max_iterations=2))
    with pytest.raises(IllegalEvent, match="2 of 2 iterations are used up; allow more"):
        advance(loop, LoopResumed(at=LATER))
    loop, _ = advance(loop, LoopResumed(at=LATER, max_iterations=3))
    assert (loop.status, loop.max_iterations) == ("running", 3)


def test_stopping_twice_and_cancelling_twice_change_nothing() -> None:
    stopped, effects = advance(a_phase_loop(), LoopStopped(at=LATER, reason="user: enough"))
    assert effects == (Stop(reason="user: enough"),)
    assert advance(stopped, LoopStopped(at=LATER, reason="user: again")) == (stopped, ())
    cancelled, _ = advance(stopped, LoopCancelled(at=LATER, reason="user: no"))
    assert cancelled.status == "cancelled"
    assert advance(cancelled, LoopCancelled(at=LATER, reason="user: again")) == (cancelled, ())


def test_a_session_takes_a_loop_from_another_only_if_a_person_says_so() -> None:
    loop, _ = advance(a_phase_loop(), SessionBound(at=LATER, session_id="one"))
    with pytest.raises(IllegalEvent, match="the session one drives"):
        advance(loop, SessionBound(at=LATER, session_id="two"))
    assert advance(loop, SessionBound(at=LATER, session_id="two", take_over=True))[0].session_id == "two"
    stopped, _ = advance(loop, LoopStopped(at=LATER, reason="user: stop"))
    assert advance(stopped, SessionBound(at=LATER, session_id="two"))[0].session_id == "two"


def test_notes_are_kept_and_move_nothing() -> None:
    loop = a_phase_loop(phase="work")
    note = Checkpoint(phase="work", summary="half", failed_approaches=("regex",), timestamp=AT)
    noted, _ = advance(loop, CheckpointWritten(at=LATER, checkpoint=note))
    noted, _ = advance(noted, ErrorMet(at=LATER, message="3 failures"))
    noted, _ = advance(noted, ArtifactsNamed(at=LATER, branch="feat/x", pr_url="https://example.com/1"))
    assert noted.checkpoints == (note,)
    assert (noted.errors[0].message, noted.errors[0].forced) == ("3 failures", False)
    assert (noted.artifacts.branch, noted.artifacts.pr_url) == ("feat/x", "https://example.com/1")
    assert (noted.phase, noted.phase_iteration, noted.status) == ("work", 0, "running")


def test_red_first_is_about_spec_test_and_green_about_work() -> None:
    for phase, tests_pass in (("spec_test", True), ("spec_test", None), ("work", False), ("work", None)):
        loop, _ = advance(a_phase_loop(phase=phase), filed(phase, tests_pass=tests_pass))  # type: ignore[arg-type]
        assert (loop.phase, loop.status) == (phase, "running")
        assert facts_for(phase).tests_pass is (phase == "work")  # type: ignore[arg-type]


# --- money -------------------------------------------------------------------------------------------------------


def test_a_budget_is_told_about_at_four_fifths_and_when_it_is_spent() -> None:
    loop = a_phase_loop(budget_limit_usd=10)
    told: list[object] = []
    for turn, usd in enumerate((7.9, 0.1, 1.0, 1.0, 5.0)):
        loop, effects = advance(loop, MoneySpent(at=LATER, of=str(turn), usd=usd))
        told.append([effect.text.split(" ")[0] for effect in effects if isinstance(effect, Warn)])
    assert told == [[], ["80%"], [], ["100%"], []]
    assert loop.status == "running"
    assert loop.spent_usd == pytest.approx(15.0)


def test_an_enforced_budget_stops_the_loop_and_more_of_it_lets_it_go_on() -> None:
    loop = a_phase_loop(budget_limit_usd=1, enforce_budget=True)
    loop, effects = advance(loop, MoneySpent(at=LATER, of="1", usd=2.0))
    assert loop.status == "stopped"
    assert effects[-1] == Stop(reason="limit: the budget is spent, 2.00 of 1.00 USD")
    assert isinstance(effects[0], Warn)
    with pytest.raises(IllegalEvent, match="allow more"):
        advance(loop, LoopResumed(at=LATER))
    assert advance(loop, LoopResumed(at=LATER, budget_limit_usd=3))[0].status == "running"
    assert advance(loop, LoopResumed(at=LATER, enforce_budget=False))[0].status == "running"


def test_what_is_told_again_is_not_counted_again() -> None:
    loop = a_phase_loop()
    for usd in (0.5, 0.5, 1.25, 1.0):
        loop, _ = advance(loop, MoneySpent(at=LATER, of="the graph", usd=usd))
    assert loop.spent_usd == pytest.approx(1.25)
    loop, _ = advance(loop, MoneySpent(at=LATER, of="turn 2", usd=0.5))
    assert loop.spent_usd == pytest.approx(1.75)


def test_it_stops_while_it_waits_for_a_person_too() -> None:
    loop = replace(walk_to("spec_test", a_phase_loop(budget_limit_usd=1, enforce_budget=True)), status="waiting")
    assert advance(loop, MoneySpent(at=LATER, of="1", usd=1.0))[0].status == "stopped"


@pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
def test_what_is_no_money_is_refused(usd: float) -> None:
    with pytest.raises(IllegalEvent):
        advance(a_phase_loop(), MoneySpent(at=LATER, of="1", usd=usd))


# --- a person's force --------------------------------------------------------------------------------------------


def test_a_person_forces_a_phase_on_record() -> None:
    loop, effects = advance(a_phase_loop(phase="deepen"), PhaseForced(at=LATER, reason="it is deep enough"))
    assert effects == (Enter(phase="work", forced="it is deep enough"),)
    assert loop.phases_completed == ()
    assert [(error.phase, error.forced) for error in loop.errors] == [("deepen", True)]


@pytest.mark.parametrize("phase", ["spec_test", "test", "ship"])
def test_nobody_forces_what_is_left_by_proof_alone(phase: Phase) -> None:
    loop = a_phase_loop(phase=phase)
    with pytest.raises(IllegalEvent, match="without its proof"):
        advance(loop, PhaseForced(at=LATER, reason="now", tests_pass=False))


def test_what_the_tests_said_is_kept_with_the_commit_they_said_it_of() -> None:
    loop, effects = advance(a_phase_loop(), AcceptanceRun(at=LATER, passed=False, commit="abc1234"))
    assert effects == ()
    assert loop.tests_verdict == AcceptanceVerdict(passed=False, commit="abc1234", timestamp=LATER)
