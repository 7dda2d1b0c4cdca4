"""`conduct` takes a report and returns what is to be done now; the order of its questions is the order of decisions:

redirect requested → stop requested → base case holds → exhausted → stalled → limits → go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core import events
from aotloop.core.checklist import check_of
from aotloop.core.conduct import attempts, checking, merging, reports
from aotloop.core.conduct.ending import close_generation, finish, get_unstuck, reach_limits, set_aside
from aotloop.core.conduct.run import Attempt, Run
from aotloop.core.conduct.starting import fill_slots
from aotloop.core.effects import CheckParent, Effect
from aotloop.core.freshness import fresh_verdict


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
        effects += _interrupt(run, discard=control.redirect_requested) + merging.merge_next(run)
        if control.stop_requested and not run.reverting and not run.to_revert:  # overrides a dialogue left open
            reason = control.stop_reason or "stop requested"
            effects += finish(run, f"user: {reason.removeprefix('user: ')}")
        return effects
    while True:
        effects += _call_off(run)
        if changes := close_generation(run, at):
            effects += changes  # which may leave more behind, or end the generation
            continue
        set_aside(run)
        reach_limits(run)
        effects += merging.merge_next(run)
        effects += checking.verify_if_due(run)
        effects += fill_slots(run)
        if run.is_busy() or not get_unstuck(run, at, effects):
            return effects


def _call_off(run: Run) -> list[Effect]:
    """Attempts whose result would no longer be of use, and what was noted of atoms that are gone."""
    for noted in (run.waiting, run.stuck, run.held, run.waits):
        for atom_id in [one for one in noted if one not in run.board.atoms]:
            del noted[atom_id]
    return [run.cancel(one) for one in _doubtful(run) if not _is_of_use(run, one)]


def _doubtful(run: Run) -> list[Attempt]:
    """All of the others are of use as they were: looking at each after every report would cost its square."""
    news, epoch = run.board.take_news(), run.loop.control.epoch
    return [one for one in run.all_attempts() if news is None or one.atom in news or one.epoch != epoch]


def _is_of_use(run: Run, attempt: Attempt) -> bool:
    atom = run.board.atoms.get(attempt.atom)
    if atom is None or attempt.epoch != run.loop.control.epoch:
        return False
    return atom.status == "in_progress" and run.board.why_not_wanted(atom.id) is None


def _interrupt(run: Run, *, discard: bool = True) -> list[Effect]:
    """Everything under way ends, but for a revert: half of one is worse than either."""
    effects = [run.cancel(attempt, discard=discard) for attempt in run.all_attempts()]
    effects += run.cancel_checks()
    run.members.clear()
    run.is_open = False
    return effects


# --- what happens to the run as a whole --------------------------------------------------------------------------


def _begin(run: Run, report: reports.Began) -> list[Effect]:
    effects = run.advance(events.LoopStarted(run_id=report.run_id, objective_digest=report.objective_digest))
    for atom in run.loop.atoms.copy():
        if atom.status == "in_progress":
            run.advance(events.AtomAbandoned(atom=atom.id))
    known = fresh_verdict(run.loop, report.commit) if report.commit is not None else None
    run.has_begun = known is not None and not known.passed and not known.undecided
    return effects + _take_up(run, report.at)


def _take_up(run: Run, at: str) -> list[Effect]:
    """What a crash, or a correction, left between two steps: failures without consequence, parents to be checked."""
    effects: list[Effect] = []
    for atom in run.loop.atoms.copy():
        if atom.status != "pending" or atom.id not in run.board.required:
            continue
        if run.board.atoms.get(atom.id) != atom:  # changed by what was done about another one
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


def _told(run: Run, report: reports.Told) -> list[Effect]:
    effects = run.advance(report.event)
    if isinstance(report.event, events.Corrected):
        effects = [one for one in effects if not isinstance(one, CheckParent)]  # they are asked for below
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
    reports.Told: _told,
    reports.Halted: _halt,
    reports.LoopReplaced: _replaced,
    reports.WorkDone: attempts.done,
    reports.WorkFailed: attempts.failed,
    reports.ChildrenProposed: attempts.proposed,
    reports.ProbeReturned: attempts.probed,
    reports.MustWait: attempts.must_wait,
    reports.WaitOver: attempts.wait_over,
    reports.Merged: merging.merged,
    reports.BranchMoved: merging.moved,
    reports.MergeRefused: merging.refused,
    reports.MergeConflicted: merging.conflicted,
    reports.MergeBlocked: merging.blocked,
    reports.Unblocked: merging.unblocked,
    reports.Reverted: merging.reverted,
    reports.ParentChecked: checking.parent_checked,
    reports.Verified: checking.verified,
}
