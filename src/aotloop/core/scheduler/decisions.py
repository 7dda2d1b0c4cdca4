"""`conduct` takes a report and returns the next effects. It decides in this order:

redirect requested → stop requested → base case holds → exhausted → stalled → limits → go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core import events
from aotloop.core.checks.checklist import check_of
from aotloop.core.effects import CheckParent, Effect
from aotloop.core.objective import fresh_verdict
from aotloop.core.scheduler import merge_queue, outcomes, reports, verification_schedule
from aotloop.core.scheduler.finish import close_generation, finish, get_unstuck, reach_limits, set_aside
from aotloop.core.scheduler.run_state import Attempt, Run
from aotloop.core.scheduler.slots import fill_slots


def conduct(run: Run, report: reports.Report) -> list[Effect]:
    if run.finished:
        return []
    return _HANDLERS[type(report)](run, report) + _decide(run, report.at)


def _decide(run: Run, at: str) -> list[Effect]:
    effects: list[Effect] = []
    if run.finished:
        return effects
    control = run.loop.control
    if control.redirect_requested or control.stop_requested:
        effects += _interrupt(run, discard=control.redirect_requested) + merge_queue.merge_next(run)
        if control.stop_requested and not run.reverting and not run.to_revert:  # even if a redirect is still open
            reason = control.stop_reason or "stop requested"
            effects += finish(run, f"user: {reason.removeprefix('user: ')}")
        return effects
    while True:
        effects += _call_off(run)
        if changes := close_generation(run, at):
            effects += changes  # these may leave more work behind, or end the generation
            continue
        set_aside(run)
        effects += reach_limits(run)
        effects += merge_queue.merge_next(run)
        effects += verification_schedule.verify_if_due(run)
        effects += fill_slots(run)
        if run.is_busy() or not get_unstuck(run, at, effects):
            return effects


def _call_off(run: Run) -> list[Effect]:
    """Cancels attempts whose result would not be used, and forgets notes about removed atoms."""
    for noted in (run.waiting, run.stuck, run.held, run.waits):
        for atom_id in [atom_id for atom_id in noted if atom_id not in run.board.atoms]:
            del noted[atom_id]
    return [run.cancel(attempt) for attempt in _doubtful(run) if not _is_of_use(run, attempt)]


def _doubtful(run: Run) -> list[Attempt]:
    """Attempts that may have become useless. Looking at all attempts after every report would cost quadratic time."""
    news, epoch = run.board.take_news(), run.loop.control.epoch
    return [attempt for attempt in run.all_attempts() if news is None or attempt.atom in news or attempt.epoch != epoch]


def _is_of_use(run: Run, attempt: Attempt) -> bool:
    atom = run.board.atoms.get(attempt.atom)
    if atom is None or attempt.epoch != run.loop.control.epoch:
        return False
    return atom.status == "in_progress" and run.board.why_not_wanted(atom.id) is None


def _interrupt(run: Run, *, discard: bool = True) -> list[Effect]:
    """Ends all running work except a revert, because half a revert is worse than either state."""
    effects = [run.cancel(attempt, discard=discard) for attempt in run.all_attempts()]
    effects += run.cancel_checks()
    run.members.clear()
    run.is_open = False
    return effects


# --- events of the whole run --------------------------------------------------------------------------------------


def _begin(run: Run, report: reports.Began) -> list[Effect]:
    effects = run.advance(events.LoopStarted(run_id=report.run_id, objective_digest=report.objective_digest))
    for atom in run.loop.atoms.copy():
        if atom.status == "in_progress":
            run.advance(events.AtomAbandoned(atom=atom.id))
    known = fresh_verdict(run.loop, report.commit) if report.commit is not None else None
    run.has_begun = known is not None and not known.passed and not known.undecided
    return effects + _take_up(run, report.at)


def _take_up(run: Run, at: str) -> list[Effect]:
    """Continues after a crash or a correction: failures without consequence, and parents without a check."""
    effects: list[Effect] = []
    for atom in run.loop.atoms.copy():
        if atom.status != "pending" or atom.id not in run.board.required:
            continue
        if run.board.atoms.get(atom.id) != atom:  # the step for another atom changed it
            continue
        if run.board.is_exhausted(atom.id):
            reason = "it failed again and again"
            effects += run.advance(events.AlternativeSought(atom=atom.id, reason=reason, at=at))
        elif atom.id in run.board.children_of and not run.board.waits_for(atom.id):
            if check_of(atom, run.loop.objective.base_case) is None:
                effects += run.advance(events.AtomResolved(atom=atom.id, at=at))
            else:
                run.checking.add(atom.id)
                effects.append(CheckParent(atom=atom.id))
    return effects


def _found(run: Run, report: reports.ResultFound) -> list[Effect]:
    if report.atom not in run.board.atoms or run.board.why_not_ready(report.atom) is not None:
        return []
    run.advance(events.AtomStarted(atom=report.atom))
    attempt = Attempt(
        number=run.next_number,
        atom=report.atom,
        epoch=run.loop.control.epoch,
        role="worker",
        merges=run.merges,
        summary=report.summary,
        artifacts=report.artifacts,
    )
    run.next_number += 1
    run.attempts[attempt.number] = attempt
    run.to_merge.append(attempt.number)
    return []


def _happened(run: Run, report: reports.Happened) -> list[Effect]:
    effects = run.advance(report.event)
    if isinstance(report.event, events.Corrected):
        effects = [effect for effect in effects if not isinstance(effect, CheckParent)]  # requested again below
        effects += _go_another_way(run, report.at)
    elif isinstance(report.event, events.RedirectExpired):
        effects += _take_up(run, report.at)
    return effects


def _halt(run: Run, report: reports.Halted) -> list[Effect]:
    return _interrupt(run, discard=False) + finish(run, report.reason)


def _replaced(run: Run, report: reports.LoopReplaced) -> list[Effect]:
    return _go_another_way(run, report.at)


def _go_another_way(run: Run, at: str) -> list[Effect]:
    run.board.rebuild()
    effects = _call_off(run) + run.cancel_checks()
    run.held.clear()
    run.stuck.clear()
    run.waits.clear()
    run.ending = None
    run.is_verified = False
    return effects if run.loop.control.redirect_requested else effects + _take_up(run, at)


_HANDLERS: dict[type[reports.Report], Callable[[Run, Any], list[Effect]]] = {
    reports.Began: _begin,
    reports.ResultFound: _found,
    reports.Happened: _happened,
    reports.Halted: _halt,
    reports.LoopReplaced: _replaced,
    reports.WorkDone: outcomes.done,
    reports.WorkFailed: outcomes.failed,
    reports.ChildrenProposed: outcomes.proposed,
    reports.ProbeReturned: outcomes.probed,
    reports.MustWait: outcomes.must_wait,
    reports.WaitOver: outcomes.wait_over,
    reports.Merged: merge_queue.merged,
    reports.BranchMoved: merge_queue.moved,
    reports.MergeRefused: merge_queue.refused,
    reports.MergeConflicted: merge_queue.conflicted,
    reports.MergeBlocked: merge_queue.blocked,
    reports.Unblocked: merge_queue.unblocked,
    reports.Reverted: merge_queue.reverted,
    reports.ParentChecked: verification_schedule.parent_checked,
    reports.Verified: verification_schedule.verified,
}
