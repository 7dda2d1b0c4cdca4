"""What reaches the branch, one thing at a time: merges and reverts, and never while something is being verified."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.conduct import reports
from aotloop.core.conduct.attempts import fail
from aotloop.core.conduct.run import Run
from aotloop.core.effects import Effect, Integrate


def merge_next(run: Run) -> list[Effect]:
    is_free = run.merging is None and run.verifying is None and not run.checking and not run.reverting
    if not is_free or not run.to_merge:
        return []
    run.merging = run.to_merge[0]
    return [Integrate(attempt=run.merging, atom=run.attempts[run.merging].atom)]


def merged(run: Run, report: reports.Merged) -> list[Effect]:
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    if attempt is None:
        return []
    _note_move(run)
    return run.advance(
        events.AtomResolved(
            atom=attempt.atom,
            summary=attempt.summary,
            artifacts=attempt.artifacts,
            at=report.at,
            commit=report.commit,
        )
    )


def refused(run: Run, report: reports.MergeRefused) -> list[Effect]:
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    return fail(run, attempt, report.reason, report.at, taught=True) if attempt is not None else []


def conflicted(run: Run, report: reports.MergeConflicted) -> list[Effect]:
    """Counts as no attempt: there has to be another atom's merge each time. The two do not run at once again."""
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    if attempt is None:
        return []
    run.apart.update(frozenset((attempt.atom, other)) for other in report.others)
    return run.advance(events.AtomAbandoned(atom=attempt.atom))


def blocked(run: Run, report: reports.MergeBlocked) -> list[Effect]:
    """The result waits for a person; its slot is free, and the others go on."""
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    if attempt is not None:
        run.blocked[attempt.number] = attempt
        run.blocked_by[attempt.number] = report.reason
    return []


def unblocked(run: Run, report: reports.Unblocked) -> list[Effect]:
    attempt = run.blocked.pop(report.attempt, None)
    if attempt is not None:
        run.blocked_by.pop(report.attempt, None)
        run.attempts[attempt.number] = attempt
        run.to_merge.append(attempt.number)
    return []


def reverted(run: Run, report: reports.Reverted) -> list[Effect]:
    if run.reverting:
        run.reverting = False
        _note_move(run)
        if report.problem is not None:
            run.end(f"blocked: what was given up cannot be taken back: {report.problem}")
    return []


def _note_move(run: Run) -> None:
    run.merges += 1
    run.is_verified = False
