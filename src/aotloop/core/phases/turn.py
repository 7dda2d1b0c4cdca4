"""Events within a phase: turns of an agent, claims that the phase is done, and the approval of the acceptance tests."""

from __future__ import annotations

import re

from msgspec.structs import replace

from aotloop.core.phases.effects import AskForPromise, AskPerson, GoOn
from aotloop.core.phases.events import (
    AcceptanceRun,
    ApprovalGiven,
    ApprovalRefused,
    IterationEnded,
    PhaseForced,
    ReceiptFiled,
)
from aotloop.core.phases.model import AcceptanceVerdict, Phase, PhaseLoop, Receipt
from aotloop.core.phases.receipts import RECEIPTS, UNTOUCHED, receipt_of, verify_receipt
from aotloop.core.phases.transitions import (
    Moved,
    complete_phase,
    force,
    give_up,
    illegal,
    moved,
    refuse_if_final,
    refuse_strangers,
    stop,
    with_error,
)
from aotloop.text.shorten import whole_words


def end_iteration(loop: PhaseLoop, event: IterationEnded) -> Moved:
    moved(loop, event, "work")
    refuse_strangers(loop, event, event.session_id)
    loop = replace(
        loop,
        phase_iteration=loop.phase_iteration + 1,
        global_iteration=loop.global_iteration + 1,
        last_updated=event.at,
    )
    if loop.global_iteration >= loop.max_iterations:
        return stop(loop, f"limit: {loop.global_iteration} iterations are used up, in {loop.phase}", event.at)
    if loop.session_id is None and (same := _same_failure(loop)) is not None:
        cause = f"{loop.phase} failed {MOST_ALIKE} times in the same way ({whole_words(same, LONGEST_CAUSE)})"
        return stop(loop, f"blocked: {cause}; remove the cause, then `aot ship` tries again", event.at)
    if loop.phase_iteration >= loop.max_phase_iterations:
        reason = f"not completed in {loop.phase_iteration} iterations"
        return give_up(loop, reason, event.at, tests_pass=event.tests_pass)
    return loop, (GoOn(phase=loop.phase),)


MOST_ALIKE = 3
"""Turns in a row that may fail in the same way: more of them would cost money and teach nothing."""
LONGEST_CAUSE = 200
"""Characters in the reason; `aot ship status` has more."""
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?")


def _same_failure(loop: PhaseLoop) -> str | None:
    """How the last turns of this stay in the phase failed, if all did in the same way; numbers do not matter."""
    since = loop.phase_started_at or loop.started_at
    failed = [
        error for error in loop.errors if error.phase == loop.phase and not error.forced and error.timestamp >= since
    ]
    last = {error.iteration: error.message for error in failed}
    recent = [last.get(loop.global_iteration - back - 1) for back in range(MOST_ALIKE)]
    messages = {_NUMBERS.sub("0", message) if message is not None else None for message in recent}
    return recent[0] if len(messages) == 1 else None


def file_receipt(loop: PhaseLoop, event: ReceiptFiled) -> Moved:
    moved(loop, event, "work")
    receipt, facts = event.receipt, event.facts
    if reasons := verify_receipt(loop.phase, receipt, facts):
        return _send_back(loop, reasons, event.at)
    loop = _with_receipt(loop, receipt, event.at)
    if loop.phase == "ship":
        return loop, (AskForPromise(promise=loop.completion_promise),)
    if loop.phase == "spec_test" and not loop.skip_test_review:
        return replace(loop, status=moved(loop, event, "wait")), (AskPerson(artifact=receipt.artifact),)
    return complete_phase(loop, facts.open_findings or 0, event.at)


def give_approval(loop: PhaseLoop, event: ApprovalGiven) -> Moved:
    """A person agrees to the tests of the receipt. It is verified again, because the tests may have changed."""
    status = moved(loop, event, "answer")
    receipt = receipt_of(loop, "spec_test")
    if receipt is None:
        raise illegal(event, "there is no receipt of the acceptance tests; refuse, and they are written anew")
    reasons = verify_receipt("spec_test", receipt, event.facts)
    if not UNTOUCHED.holds(event.facts):
        reasons = (*reasons, UNTOUCHED.otherwise)
    loop = replace(loop, status=status)
    if reasons:
        return _send_back(_without_receipt(loop, "spec_test"), reasons, event.at)
    return complete_phase(loop, 0, event.at)


def refuse_approval(loop: PhaseLoop, event: ApprovalRefused) -> Moved:
    status = moved(loop, event, "answer")
    return _send_back(_without_receipt(replace(loop, status=status), "spec_test"), (event.reason,), event.at)


def note_tests(loop: PhaseLoop, event: AcceptanceRun) -> Moved:
    refuse_if_final(loop, event)
    verdict = AcceptanceVerdict(passed=event.passed, commit=event.commit, timestamp=event.at)
    return replace(loop, tests_verdict=verdict, last_updated=event.at), ()


def force_phase(loop: PhaseLoop, event: PhaseForced) -> Moved:
    """A person wants to leave the phase. Where no limit can force the loop out of a phase, a person cannot either."""
    moved(loop, event, "work")
    after, effects = force(loop, event.reason, event.at, tests_pass=event.tests_pass)
    if after.status == "stopped":
        raise illegal(event, f"{loop.phase} is left only by its receipt, and never without its proof")
    return after, effects


def _send_back(loop: PhaseLoop, reasons: tuple[str, ...], at: str) -> Moved:
    loop = with_error(loop, f"the receipt does not count: {'; '.join(reasons)}", at, refused=True)
    return loop, (GoOn(phase=loop.phase, reasons=reasons),)


def _with_receipt(loop: PhaseLoop, receipt: Receipt, at: str) -> PhaseLoop:
    """Only the last receipt of a phase counts."""
    loop = _without_receipt(loop, receipt.phase)
    artifacts = loop.artifacts
    if kept_as := RECEIPTS[receipt.phase].kept_as:
        artifacts = replace(artifacts, **{kept_as: receipt.artifact})
    return replace(loop, receipts=(*loop.receipts, receipt), artifacts=artifacts, last_updated=at)


def _without_receipt(loop: PhaseLoop, phase: Phase) -> PhaseLoop:
    return replace(loop, receipts=tuple(receipt for receipt in loop.receipts if receipt.phase != phase))
