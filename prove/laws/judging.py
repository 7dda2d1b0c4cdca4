"""Laws of results: what is merged, resolved and completed, and the proof that is needed before."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.effects import Integrate, StartAttempt, VerifyBaseCase
from aotloop.core.scheduler import reports
from prove.step import Step


def nothing_merges_while_something_is_judged(step: Step) -> Iterator[str]:
    run = step.run
    judging = run.verifying is not None or bool(run.checking)
    if judging and run.merging is not None:
        yield "a merge is under way while something is being judged"
    if run.reverting and (run.merging is not None or judging):
        yield "something is merged or judged before what was given up is taken back"
    if (run.reverting or run.to_revert) and step.asked(StartAttempt):
        yield "something started before what was given up is taken back"
    if len(step.asked(Integrate)) > 1 or len(step.asked(VerifyBaseCase)) > 1:
        yield "two merges or two verifications at once"


def completed_only_by_a_passing_verdict(step: Step) -> Iterator[str]:
    passed = isinstance(step.report, reports.Verified) and step.report.verdict.passed
    was_asked_for = isinstance(step.report, reports.Verified) and step.report.number == step.before.verifying
    if (step.loop.control.status == "completed") != (passed and was_asked_for):
        yield f"the loop is {step.loop.control.status} after: {step.action.name}"


def _checked(step: Step) -> str | None:
    return step.report.atom if isinstance(step.report, reports.ParentChecked) and step.report.passed else None


def a_claim_alone_resolves_nothing(step: Step) -> Iterator[str]:
    """Only what is merged is resolved (or a parent, by its parts and its check)."""
    before = {atom.id: atom for atom in step.before.loop.atoms}
    plain = step.plain
    for atom in step.loop.atoms:
        if atom.status != "resolved" or before[atom.id].status == "resolved":
            continue
        if plain.parts(atom.id):
            if (atom.check is not None or atom.covers) and atom.id != _checked(step):
                yield f"{atom.id} is resolved though its check did not pass"
        elif atom.id != step.merged:
            yield f"{atom.id} is resolved by: {step.action.name}"


LAWS = (
    nothing_merges_while_something_is_judged,
    completed_only_by_a_passing_verdict,
    a_claim_alone_resolves_nothing,
)
