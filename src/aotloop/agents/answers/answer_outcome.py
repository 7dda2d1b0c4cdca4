"""The meaning of an answer: only this module turns the claims of an agent into an outcome."""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.answers.answer_schema import (
    EXAMPLES,
    JudgeResult,
    PlannerResult,
    ProbeResult,
    VerifierResult,
    WorkerResult,
)
from aotloop.agents.answers.extraction import NotAResult, find_answer
from aotloop.agents.answers.validation import Reading, read_result
from aotloop.agents.contract import Crashed, Done, Failed, Garbage, Judged, Outcome, Planned, Probed, Proposed, Scored
from aotloop.agents.roles import Role
from aotloop.text.sanitize import plain
from aotloop.text.shorten import one_line

_LONGEST_SHOWN = 200


def outcome_of_message(role: Role, message: str, root: Path, tail: str) -> Outcome:
    """`message` has an answer somewhere; `tail` ends the reason if it has none."""
    try:
        answer = find_answer(role, message)
    except NotAResult as why:
        return Garbage(reason=f"{why}{tail}")
    return outcome_of_answer(role, answer, root)


def doubted(outcome: Outcome, exit_code: int | None, ending: str, tail: str) -> Outcome:
    """A program that claims success has to end with it."""
    claims = isinstance(outcome, Done) or (isinstance(outcome, Judged) and outcome.passed)
    if exit_code != 0 and claims:
        return Crashed(reason=f"it claims success, but: {ending}{tail}", notes=outcome.notes)
    return outcome


def outcome_of_answer(role: Role, text: str, root: Path) -> Outcome:
    """`text` is exactly one JSON object; the outcome is garbage if it is no answer."""
    try:
        reading = read_result(role, text, root)
    except NotAResult as why:
        came = one_line(plain(text), _LONGEST_SHOWN)
        return Garbage(reason=f"the answer does not fit: {why}; expected: {EXAMPLES[role]}; it was: {came}")
    match reading.result:
        case WorkerResult():
            return _worker(reading.result, reading)
        case ProbeResult():
            return _probe(reading.result, reading)
        case VerifierResult(passed=passed, evidence=evidence, failures=failures):
            return Judged(passed=passed, evidence=evidence, failures=failures, notes=reading.notes)
        case JudgeResult(scores=scores):
            return Scored(scores=scores, notes=reading.notes)
        case PlannerResult():
            return Planned(answer=reading.result, notes=reading.notes)


def _worker(result: WorkerResult, reading: Reading) -> Outcome:
    if result.success:
        ignored = ("it was done, so its proposal to split it was ignored",) if _has_proposal(reading) else ()
        delta = result.bindings_delta
        return Done(summary=delta.summary, artifacts=delta.artifacts, notes=reading.notes + ignored)
    if reading.parts is not None:
        reason = reading.parts.reason or result.reason or "it is too big for one go"
        return Proposed(children=reading.parts.children, reason=reason, notes=reading.notes)
    reason = result.reason or "the agent gave up without a reason"
    if reading.refused is not None:
        why = f"its proposal was refused: {reading.refused}"
        reason = f"{result.reason}; {why}" if result.reason else why
    return Failed(
        reason=reason,
        taught=bool(result.reason) or reading.refused is not None,
        because_of=result.because_of,
        wants_probe=result.wants_probe,
        notes=reading.notes,
    )


def _probe(result: ProbeResult, reading: Reading) -> Outcome:
    refused = (f"its proposal was refused: {reading.refused}",) if reading.refused is not None else ()
    return Probed(
        feasible=result.feasible,
        findings=result.findings,
        estimate=result.cost_estimate,
        children=reading.parts.children if reading.parts is not None else (),
        notes=reading.notes + refused,
    )


def _has_proposal(reading: Reading) -> bool:
    return reading.parts is not None or reading.refused is not None
