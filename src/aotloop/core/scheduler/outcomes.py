"""Outcomes of attempts and their consequences: merge next, try again, decompose, or take another way."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Effect, Exhausted
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Attempt, Run
from aotloop.errors import IllegalEvent

MOST_WAITS = 10
"""An atom that has to wait more often than this in a row counts as blocked."""


def done(run: Run, report: reports.WorkDone) -> list[Effect]:
    attempt = run.attempts.get(report.attempt)
    if attempt is None or report.attempt in run.to_merge or attempt.role == "probe":
        return []
    run.attempts[report.attempt] = replace(attempt, summary=report.summary, artifacts=report.artifacts)
    run.to_merge.append(report.attempt)
    run.waits.pop(attempt.atom, None)
    return []


def failed(run: Run, report: reports.WorkFailed) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    return fail(
        run,
        attempt,
        report.reason,
        report.at,
        because_of=report.because_of,
        progress=report.progress,
        wants_probe=report.wants_probe,
    )


def _end(run: Run, report: reports.OfAttempt) -> Attempt | None:
    """The attempt that ends with this report. None if it ended before."""
    attempt = run.take_off(report.attempt) if report.attempt not in run.to_merge else None
    if attempt is not None:
        run.waits.pop(attempt.atom, None)
    return attempt


def fail(
    run: Run,
    attempt: Attempt,
    reason: str,
    at: str,
    *,
    because_of: tuple[str, ...] = (),
    progress: bool = False,
    wants_probe: bool = False,
    is_last: bool = False,
) -> list[Effect]:
    """`is_last`: it cannot be tried again."""
    is_command = run.board.atoms[attempt.atom].run is not None
    run.failed.add(attempt.atom)
    if is_command and attempt.merges == run.merges:
        run.held[attempt.atom] = run.merges
    return run.advance(
        events.AtomFailed(
            atom=attempt.atom,
            reason=reason,
            at=at,
            final=is_command or is_last,
            because_of=because_of,
            progress=progress,
            wants_probe=wants_probe,
        )
    )


def proposed(run: Run, report: reports.ChildrenProposed) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    return _decompose(run, attempt, report.children, report.reason, report.at)


def _decompose(run: Run, attempt: Attempt, children: tuple[events.Child, ...], reason: str, at: str) -> list[Effect]:
    try:
        return run.advance(events.AtomDecomposed(parent=attempt.atom, children=children, reason=reason))
    except IllegalEvent as refusal:
        return fail(run, attempt, f"its proposal was refused: {refusal.cause}", at)


def probed(run: Run, report: reports.ProbeReturned) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    if attempt.role != "probe":
        return fail(run, attempt, f"it answered as a probe would: {report.findings}", report.at)
    if report.feasible and report.children:
        return _decompose(run, attempt, report.children, report.findings, report.at)
    return run.advance(
        events.AtomProbed(
            atom=attempt.atom,
            feasible=report.feasible,
            findings=report.findings,
            estimate=report.estimate,
            at=report.at,
        )
    )


def must_wait(run: Run, report: reports.MustWait) -> list[Effect]:
    attempt = run.take_off(report.attempt) if report.attempt not in run.to_merge else None
    if attempt is None:
        return []
    if report.for_good and _is_repair_of_commands(run, attempt.atom):
        effects = fail(run, attempt, report.reason, report.at, is_last=True)
        if Exhausted(atom=attempt.atom) in effects:
            run.stuck[attempt.atom] = f"{attempt.atom}: {report.reason}"
        return effects
    run.waits[attempt.atom] = run.waits.get(attempt.atom, 0) + 1
    if report.for_good or run.waits[attempt.atom] > MOST_WAITS:
        run.stuck[attempt.atom] = report.reason if report.of_all else f"{attempt.atom}: {report.reason}"
    else:
        run.waiting[attempt.atom] = report.reason
    return run.advance(events.AtomAbandoned(atom=attempt.atom))


def _is_repair_of_commands(run: Run, atom_id: str) -> bool:
    """A loop of commands needs an agent only for repairs. Without an agent, another choice is left to try."""
    atoms = run.loop.atoms
    is_done_by_commands = all(atom.run or atom.repairs or atom.id in run.board.children_of for atom in atoms)
    return run.board.atoms[atom_id].repairs is not None and is_done_by_commands


def wait_over(run: Run, report: reports.WaitOver) -> list[Effect]:
    run.waiting.pop(report.atom, None)
    return []
