"""The merge queue: merges and reverts reach the branch one at a time, and never during a verification."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.effects import Effect, Integrate, Revert
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.outcomes import fail
from aotloop.core.scheduler.run_state import Run


def merge_next(run: Run) -> list[Effect]:
    """Reverts of given-up work come before any merge."""
    is_judging = run.verifying is not None or bool(run.checking)
    if run.merging is not None or run.reverting or is_judging:
        return []
    if run.to_revert:
        atoms, run.to_revert = tuple(run.to_revert), []
        run.reverting = True
        return [Revert(atoms=atoms)]
    attempt = run.find(run.to_merge[0]) if run.to_merge else None
    if attempt is None:
        return []
    run.merging = attempt.number
    return [Integrate(attempt=attempt.number, atom=attempt.atom)]


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
    if attempt is None:
        return []
    return fail(run, attempt, report.reason, report.at, progress=report.progress)


def conflicted(run: Run, report: reports.MergeConflicted) -> list[Effect]:
    """A conflict is no attempt, because it needs another atom's merge. The two atoms no longer run together."""
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    if attempt is None:
        return []
    if attempt.merges == run.merges:  # nothing else was merged: it would conflict forever
        return fail(run, attempt, "it cannot be merged", report.at)
    run.apart.update(frozenset((attempt.atom, other)) for other in report.others)
    return run.advance(events.AtomAbandoned(atom=attempt.atom))


def blocked(run: Run, report: reports.MergeBlocked) -> list[Effect]:
    """The result waits for a person. Its slot is free, and the other attempts continue."""
    attempt = run.take_off(report.attempt) if run.merging == report.attempt else None
    if attempt is not None:
        run.blocked[attempt.number] = attempt
        run.blocked_by[attempt.number] = report.reason
    return []


def unblocked(run: Run, report: reports.Unblocked) -> list[Effect]:
    if run.blocked_by.pop(report.attempt, None) is not None:
        run.to_merge.append(report.attempt)
        if run.can_be_unblocked:
            run.ending = None
    return []


def reverted(run: Run, report: reports.Reverted) -> list[Effect]:
    if run.reverting:
        run.reverting = False
        _note_move(run)
        if report.problem is not None:
            run.end(f"blocked: what was given up cannot be taken back: {report.problem}")
    return []


def moved(run: Run, _: reports.BranchMoved) -> list[Effect]:
    _note_move(run)
    return []


def _note_move(run: Run) -> None:
    run.merges += 1
    run.is_verified = False
