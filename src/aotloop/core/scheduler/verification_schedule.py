"""Verification of the base case: when it happens, and what follows from the verdict."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.effects import Effect, Exhausted, Finished, VerifyBaseCase
from aotloop.core.handlers.generations import lasts
from aotloop.core.policy.stop_reasons import unmendable
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run


def verdict_is_due(run: Run) -> bool:
    """At the start; when all required atoms are resolved; at a generation's end, if configured; and at the very end."""
    if run.is_verified:
        return False
    if not run.has_begun or run.is_all_resolved():
        return True
    if generation_is_over(run) and run.loop.objective.constraints.verify_each_iteration:
        return True
    return run.ending is not None and not run.attempts


def generation_is_over(run: Run) -> bool:
    """All its attempts have reported, and it has lasted long enough, or nothing can continue."""
    if not run.is_open or run.members:
        return False
    can_go_on = bool(run.attempts or run.waiting) or next(run.board.best_ready(), None) is not None
    return run.is_all_resolved() or not (lasts(run.board) and can_go_on)


def verify_if_due(run: Run) -> list[Effect]:
    is_moving = run.merging is not None or run.reverting or bool(run.to_revert)
    is_free = run.verifying is None and not run.checking and not is_moving
    if not is_free or not verdict_is_due(run):
        return []
    run.verifications += 1
    run.verifying = run.verifications
    return [VerifyBaseCase(number=run.verifying)]


def verified(run: Run, report: reports.Verified) -> list[Effect]:
    if run.verifying != report.number:
        return []
    run.verifying = None
    run.is_verified = run.has_begun = True
    verdict = report.verdict
    effects = run.advance(events.VerdictReached(verdict=verdict))
    if verdict.passed:
        return effects + _complete(run, verdict.commit)
    if run.ending is None and run.is_all_resolved():
        if report.evidence:
            effects += run.advance(events.BaseCaseFailed(failing=report.evidence, at=report.at))
            if Exhausted(atom=None) in effects:
                run.end(unmendable(report.evidence), is_judged=True)
        else:
            run.end("blocked: a person has to judge what is undecided in the base case", is_judged=True)
    return effects


def _complete(run: Run, commit: str | None) -> list[Effect]:
    effects = [*(run.cancel(attempt) for attempt in run.all_attempts()), *run.cancel_checks()]
    run.advance(events.LoopCompleted(commit=commit))
    run.finished = True
    return [*effects, Finished(status="completed")]


def parent_checked(run: Run, report: reports.ParentChecked) -> list[Effect]:
    """A check does not count if parts of its parent were reset while it ran."""
    if report.atom not in run.checking:
        return []
    run.checking.discard(report.atom)
    parent = run.board.atoms.get(report.atom)
    if parent is None or parent.status != "pending" or run.board.waits_for(report.atom):
        return []
    if report.passed:
        return run.advance(events.AtomResolved(atom=report.atom, at=report.at))
    return run.advance(events.AtomFailed(atom=report.atom, reason=report.reason, at=report.at))
