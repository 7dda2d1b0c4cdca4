"""What follows from the end of an attempt: merged next, tried again, decomposed, or another way is taken."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.conduct import reports
from aotloop.core.conduct.run import Attempt, Run
from aotloop.core.conflicts import untried
from aotloop.core.effects import Effect, Retry
from aotloop.errors import IllegalEvent

MOST_WAITS = 10
"""So often in a row an atom may have to wait before it counts as blocked."""


def done(run: Run, report: reports.WorkDone) -> list[Effect]:
    attempt = run.attempts.get(report.attempt)
    if attempt is None or report.attempt in run.to_merge or attempt.role == "probe":
        return []
    run.only_waited = False
    run.attempts[report.attempt] = replace(attempt, summary=report.summary, artifacts=report.artifacts)
    run.to_merge.append(report.attempt)
    run.waits.pop(attempt.atom, None)
    return []


def failed(run: Run, report: reports.WorkFailed) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    if attempt.weighs_for is not None:
        return _know(run, attempt, report.at, feasible=True, findings=f"the probe found nothing: {report.reason}")
    return fail(run, attempt, report.reason, report.at, taught=report.taught, final=report.repeated)


def _end(run: Run, report: reports.OfAttempt) -> Attempt | None:
    """The attempt that ends with this; None if it has ended before."""
    attempt = run.take_off(report.attempt) if report.attempt not in run.to_merge else None
    knows_more = isinstance(report, reports.ProbeReturned) and report.feasible  # no progress, and no stall either
    run.has_outcome = run.has_outcome or (attempt is not None and not knows_more)
    if attempt is not None:
        run.only_waited = False
        run.waits.pop(attempt.atom, None)
    return attempt


def fail(run: Run, attempt: Attempt, reason: str, at: str, *, taught: bool, final: bool = False) -> list[Effect]:
    effects = run.advance(events.AtomFailed(atom=attempt.atom, reason=reason, at=at, weigh=taught, final=final))
    is_command = attempt.atom in run.board.atoms and run.board.atoms[attempt.atom].run is not None
    if is_command and attempt.merges == run.merges and any(isinstance(one, Retry) for one in effects):
        run.held[attempt.atom] = run.merges
    return effects


def proposed(run: Run, report: reports.ChildrenProposed) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    if attempt.weighs_for is not None:
        return _know(run, attempt, report.at, feasible=True, findings=report.reason)
    return _decompose(run, attempt, report.children, report.reason, report.at)


def _decompose(run: Run, attempt: Attempt, children: tuple[events.Child, ...], reason: str, at: str) -> list[Effect]:
    try:
        return run.advance(events.AtomDecomposed(parent=attempt.atom, children=children, reason=reason))
    except IllegalEvent as refusal:
        return fail(run, attempt, f"its proposal was refused: {refusal.cause}", at, taught=True)


def probed(run: Run, report: reports.ProbeReturned) -> list[Effect]:
    attempt = _end(run, report)
    if attempt is None:
        return []
    if attempt.role != "probe":
        return fail(run, attempt, f"it answered as a probe would: {report.findings}", report.at, taught=False)
    if attempt.weighs_for is None and report.feasible and report.children:
        return _decompose(run, attempt, report.children, report.findings, report.at)
    return _know(run, attempt, report.at, report.feasible, report.findings, report.estimate)


def _know(
    run: Run, attempt: Attempt, at: str, feasible: bool, findings: str, estimate: float | None = None
) -> list[Effect]:
    return run.advance(
        events.AtomProbed(atom=attempt.atom, feasible=feasible, findings=findings, estimate=estimate, at=at)
    )


def settle_weighings(run: Run, at: str) -> list[Effect]:
    """When all alternatives are known, the best one is taken."""
    effects: list[Effect] = []
    for failing, weighing in list(run.weighing.items()):
        if not is_weighed(run, failing):  # what was decided for another one has settled this too
            continue
        weighing.waiting[:] = [one for one in weighing.waiting if _is_unknown(run, weighing.or_group, one)]
        is_open = any(one.weighs_for == failing for one in run.attempts.values())
        if not weighing.waiting and not is_open:
            del run.weighing[failing]
            effects += run.advance(events.AlternativeSought(atom=failing, reason=weighing.reason, at=at))
    return effects


def is_weighed(run: Run, failing: str) -> bool:
    """Whether there is still a reason to look for an alternative."""
    atom, weighing = run.board.atoms.get(failing), run.weighing[failing]
    if atom is None or failing not in run.board.required:
        return False
    is_spent = atom.status == "pending" and run.board.is_exhausted(failing)
    return is_spent and weighing.or_group in run.loop.or_groups


def _is_unknown(run: Run, name: str, choice: str) -> bool:
    """It may have been probed meanwhile for the sake of another atom."""
    return choice in untried(run.board, run.loop.or_groups[name]) and run.board.atoms[choice].findings is None


def must_wait(run: Run, report: reports.MustWait) -> list[Effect]:
    attempt = run.take_off(report.attempt) if report.attempt not in run.to_merge else None
    if attempt is None:
        return []
    if attempt.weighs_for is not None:
        run.only_waited = False
        return _know(run, attempt, report.at, feasible=True, findings=f"not probed: {report.reason}")
    run.waits[attempt.atom] = run.waits.get(attempt.atom, 0) + 1
    if report.for_good or run.waits[attempt.atom] > MOST_WAITS:
        run.stuck[attempt.atom] = report.reason
    else:
        run.waiting[attempt.atom] = report.reason
    return run.advance(events.AtomAbandoned(atom=attempt.atom))


def wait_over(run: Run, report: reports.WaitOver) -> list[Effect]:
    run.waiting.pop(report.atom, None)
    return []
