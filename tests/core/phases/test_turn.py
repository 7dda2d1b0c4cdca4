"""Within a phase: turns are counted, the last receipt counts, and what a person said of the tests has its effect."""

from __future__ import annotations

from typing import Any

import pytest
from prove.phases import RED

from aotloop.core.phases.effects import AskForPromise, AskPerson, Enter, Finish, GoOn
from aotloop.core.phases.events import (
    AcceptanceRun,
    ApprovalGiven,
    ApprovalRefused,
    IterationEnded,
    PhaseForced,
    ReceiptFiled,
)
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PHASES, Artifacts, ErrorRecord, Phase, PhaseLoop
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import IllegalEvent
from tests.core.phases.loops import LATER, a_phase_loop, facts_for, filed, promised, receipt, walk_to


def waiting() -> PhaseLoop:
    return advance(a_phase_loop(phase="spec_test"), filed("spec_test"))[0]


def test_a_turn_is_counted_in_its_phase_and_in_all_and_dated() -> None:
    loop, effects = advance(a_phase_loop(phase="work", phase_iteration=2, global_iteration=7), IterationEnded(at=LATER))
    assert effects == (GoOn(phase="work"),)
    assert (loop.phase_iteration, loop.global_iteration, loop.last_updated) == (3, 8, LATER)


@pytest.mark.parametrize("phase", PHASES)
def test_the_last_receipt_of_a_phase_counts_and_those_of_others_stay(phase: Phase) -> None:
    others = tuple(receipt(one) for one in PHASES if one != phase)
    loop = a_phase_loop(phase=phase, receipts=(receipt(phase, artifact="old.md"), *others))
    event = ReceiptFiled(at=LATER, receipt=receipt(phase, artifact="new.md"), facts=facts_for(phase))
    after, _ = advance(loop, event)
    assert after.receipts == (*others, receipt(phase, artifact="new.md"))
    assert receipt_of(after, phase) == receipt(phase, artifact="new.md")
    assert after.last_updated == LATER


def test_where_several_receipts_of_a_phase_are_in_the_file_the_last_one_counts() -> None:
    several = (receipt("plan", artifact="1"), receipt("plan", artifact="2"), receipt("work"))
    loop = a_phase_loop(phase="work", receipts=several)
    assert receipt_of(loop, "plan") == receipt("plan", artifact="2")
    assert receipt_of(loop, "ship") is None


def test_receipts_name_three_files_and_no_others() -> None:
    loop = walk_to("ship", a_phase_loop())
    assert loop.artifacts == Artifacts(
        brainstorm_file="docs/brainstorm.md", plan_file="docs/plan.md", acceptance_tests_file="docs/spec_test.md"
    )


def test_after_the_receipt_of_ship_the_promise_is_asked_for_and_nothing_is_left() -> None:
    loop, effects = advance(walk_to("ship", a_phase_loop(completion_promise="DONE")), filed("ship"))
    assert effects == (AskForPromise(promise="DONE"),)
    assert (loop.phase, loop.status) == ("ship", "running")


@pytest.mark.parametrize("skip", [False, True])
def test_tests_wait_for_a_person_unless_their_review_is_skipped(skip: bool) -> None:
    loop, effects = advance(a_phase_loop(phase="spec_test", skip_test_review=skip), filed("spec_test"))
    assert effects == ((Enter(phase="deepen"),) if skip else (AskPerson(artifact="docs/spec_test.md"),))
    other, effects = advance(a_phase_loop(phase="plan"), filed("plan"))
    assert (other.status, effects) == ("running", (Enter(phase="spec_test"),))
    assert loop.status == ("running" if skip else "waiting")


def test_agreeing_leads_on_and_is_dated() -> None:
    loop, effects = advance(waiting(), ApprovalGiven(at="later still", facts=RED))
    assert effects == (Enter(phase="deepen"),)
    assert (loop.status, loop.phase_started_at) == ("running", "later still")
    assert receipt_of(loop, "spec_test") is not None


def test_findings_in_a_review_of_tests_are_none_of_its_business() -> None:
    loop, effects = advance(a_phase_loop(phase="plan"), filed("plan", open_findings=3))
    assert (loop.phase, effects) == ("spec_test", (Enter(phase="spec_test"),))


def test_without_a_receipt_there_is_nothing_to_agree_to() -> None:
    lost = a_phase_loop(phase="spec_test", status="waiting")
    with pytest.raises(IllegalEvent, match="there is no receipt of the acceptance tests"):
        advance(lost, ApprovalGiven(at=LATER, facts=RED))
    loop, _ = advance(lost, ApprovalRefused(at=LATER, reason="write them"))
    assert (loop.status, loop.phase) == ("running", "spec_test")


def test_what_does_not_count_is_on_record_as_a_refusal() -> None:
    loop, effects = advance(waiting(), ApprovalRefused(at=LATER, reason="no test of the logout"))
    assert effects == (GoOn(phase="spec_test", reasons=("no test of the logout",)),)
    message = "the receipt does not count: no test of the logout"
    record = ErrorRecord(phase="spec_test", message=message, iteration=0, timestamp=LATER, refused=True)
    assert loop.errors == (record,)
    assert loop.last_updated == LATER


def test_what_the_tests_said_is_dated() -> None:
    loop, _ = advance(a_phase_loop(), AcceptanceRun(at=LATER, passed=True, commit="abc1234"))
    assert loop.last_updated == LATER
    for status in ("completed", "cancelled"):
        with pytest.raises(IllegalEvent, match=f"the loop is {status}"):
            advance(a_phase_loop(phase="ship", status=status), AcceptanceRun(at=LATER, passed=True, commit="abc1234"))


@pytest.mark.parametrize("status", ["waiting", "stopped", "completed"])
def test_only_in_a_running_loop_a_phase_is_forced(status: str) -> None:
    with pytest.raises(IllegalEvent, match=f"the loop is {status}"):
        advance(a_phase_loop(phase="work", status=status), PhaseForced(at=LATER, reason="now"))


def test_while_the_acceptance_tests_pass_a_person_may_force_test() -> None:
    loop, _ = advance(a_phase_loop(phase="test"), PhaseForced(at=LATER, reason="now", tests_pass=True))
    assert (loop.phase, loop.status) == ("ship", "running")


def test_what_is_completed_is_dated_and_ship_is_the_last_of_its_phases() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    done, effects = advance(loop, promised())
    assert effects == (Finish(),)
    assert (done.last_updated, done.phases_completed[-1], done.phases_completed.count("ship")) == (LATER, "ship", 1)
    by_hand: Any = (*loop.phases_completed, "ship")
    again, _ = advance(a_phase_loop(phase="ship", receipts=loop.receipts, phases_completed=by_hand), promised())
    assert again.phases_completed == by_hand


def test_a_brainstorm_that_was_done_although_it_could_be_skipped_owes_its_receipt() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop(phase="brainstorm", skip_brainstorm=True)), filed("ship"))
    without = [one for one in loop.receipts if one.phase != "brainstorm"]
    given = {"phase": "ship", "receipts": tuple(without), "skip_brainstorm": True}
    assert advance(a_phase_loop(**given), promised())[0].status == "completed"
    done = a_phase_loop(**given, phases_completed=("brainstorm",))
    assert "there is no receipt of brainstorm" in str(advance(done, promised())[1])


def test_rounds_that_are_only_counted_owe_their_receipts() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    counted = a_phase_loop(phase="ship", receipts=loop.receipts, fix_review_cycles=1)
    assert "there is no receipt of fix" in str(advance(counted, promised())[1])
