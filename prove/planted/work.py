"""Faults of decomposition, repairs, the measure, decisions and epochs."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core import context, events
from aotloop.core.effects import Effect, Finished, Integrate, Resolved
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers import atoms, blame, failure, growth, parents, repairs, status
from aotloop.core.handlers import decomposition as parts
from aotloop.core.policy import progress, stop_reasons
from aotloop.core.scheduler import decisions, finish, merge_queue, outcomes, reports, slots, verification_schedule
from aotloop.core.scheduler.run_state import Run
from prove.laws import starting as laws_of_starting
from prove.planted.fault import (
    CHECKED,
    COVERED,
    EARLY,
    GROWING,
    HINDERED,
    PEOPLE,
    PLAIN,
    RACE,
    SINGLE,
    Fault,
    handler,
    no,
    none,
    nothing,
)

_DONE, _VERIFIED, _CANCEL, _CONTEXT = outcomes.done, verification_schedule.verified, Run.cancel, context.context_of
_REDIRECT, _STOP, _PARTS, _REPAIR = status.request_redirect, status.stop, parts.parts_of, blame.repair_base_case
_REOPEN, _COUNT = repairs._reopen, progress.count_attempt


def resolve_at_once(board: Any, parent: str) -> Any:
    if parent not in board.children_of or board.atoms[parent].status != "pending":
        return []
    parents.resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def skip_the_check(board: Any, parent: str) -> Any:
    return [] if board.waits_for(parent) else resolve_at_once(board, parent)


def merge_at_any_time(run: Run) -> Any:
    if run.merging is not None or not run.to_merge:
        return []
    run.merging = run.to_merge[0]
    return [Integrate(attempt=run.merging, atom=run.attempts[run.merging].atom)]


def believe(run: Run, report: Any) -> Any:
    """A worker's word is enough."""
    effects = _DONE(run, report)
    attempt = run.take_off(report.attempt)
    return effects + (run.advance(events.AtomResolved(atom=attempt.atom, summary="said so")) if attempt else [])


def complete_anyway(run: Run, report: Any) -> Any:
    if run.is_all_resolved() and run.verifying == report.number:
        run.loop.control = replace(run.loop.control, status="completed")
        run.verifying, run.finished = None, True
        return [Finished(status="completed")]
    return _VERIFIED(run, report)


def cancel_nothing(run: Run, attempt: Any, *, discard: bool = True) -> Any:
    effect = _CANCEL(run, attempt, discard=discard)
    run.attempts[attempt.number] = attempt
    return effect


def redirect_in_the_same_epoch(board: Any, event: Any) -> Any:
    effects = _REDIRECT(board, event)
    board.loop.control = replace(board.loop.control, epoch=board.loop.control.epoch - 1)
    return effects


def forget_results(board: Any, event: Any) -> Any:
    board.loop.bindings.clear()
    return _STOP(board, event)


def limits_first(run: Run) -> list[Effect]:
    limits, was_ending = run.limits, run.ending is not None
    reason = stop_reasons.over_limit(run.board, limits, is_open=run.is_open) or stop_reasons.stalled(run.board, limits)
    if not was_ending and run.has_begun and reason:
        run.end(reason)
    return finish._wind_down(run, was_ending=was_ending) if run.ending is not None else []


def tell_everything(graph: Any, atom_id: str) -> Any:
    return replace(_CONTEXT(graph, atom_id), results=dict(graph.loop.bindings))


def parts_without_dependencies(board: Any, event: Any, parent: Any) -> Any:
    children, groups = _PARTS(board, event, parent)
    return [replace(one, depends_on=()) for one in children], groups


def every_round_is_the_first(board: Any, event: Any) -> Any:
    verdict = board.loop.control.verdict
    board.loop.control = replace(board.loop.control, verdict=replace(verdict, repair_rounds={}))
    return _REPAIR(board, event)


def reopen_all(board: Any, atom_id: str, reason: str, at: str) -> None:
    for one in sorted(board.downstream([atom_id])):
        if board.atoms[one].status == "resolved":
            board.put(replace(board.atoms[one], status="pending"))
            board.loop.bindings.pop(one, None)
    _REOPEN(board, atom_id, reason, at)


def count_failures_only(loop: Any) -> None:
    tried = loop.control.tried
    _COUNT(loop)
    loop.control = replace(loop.control, tried=tried)


def begin_at_once(run: Run, report: Any) -> Any:
    effects = decisions._begin(run, report)
    run.has_begun = True
    return effects


def without_what_is_blocked(run: Run) -> Any:
    return list(run.attempts.values())


def always_exhausted(run: Run, reason: str) -> Any:
    return _FINISH(run, reason.replace("limit:", "exhausted:"))


_FINISH = finish.finish


FAULTS = (
    Fault("Decomposition", "depth is not limited", ((Graph, "depth", lambda *_: 0),), (GROWING,)),
    Fault(
        "Decomposition",
        "parts do not depend on what the whole depends on",
        ((growth, "parts_of", parts_without_dependencies),),
        (GROWING,),
    ),
    Fault(
        "Decomposition",
        "a parent is resolved by its first part",
        ((parents, "settle_parent", resolve_at_once),),
        (SINGLE,),
    ),
    Fault(
        "Decomposition", "a parent's own check is skipped", ((parents, "settle_parent", skip_the_check),), (CHECKED,)
    ),
    Fault(
        "Decomposition", "a failing check of a parent is left alone", ((failure, "repair_parent", nothing),), (CHECKED,)
    ),
    Fault(
        "Decomposition",
        "parts get as many parts as they like",
        ((growth, "_refuse_decomposition", none),),
        (GROWING,),
    ),
    Fault(
        "Repairs",
        "rounds of repair are not limited",
        (handler(events.BaseCaseFailed, every_round_is_the_first),),
        (PLAIN,),
    ),
    Fault("Repairs", "who covers what fails is not asked", ((repairs, "_covering", lambda *_: {}),), (COVERED,)),
    Fault("Repairs", "what depends on what is reopened is lost", ((repairs, "_reopen", reopen_all),), (COVERED,)),
    Fault("Repairs", "an item that nothing covers is left alone", ((blame, "repair_items", nothing),), (SINGLE,)),
    Fault(
        "Contraction", "a worker is told of everything", ((laws_of_starting, "context_of", tell_everything),), (SINGLE,)
    ),
    Fault("Measure", "attempts are not counted", ((atoms, "count_attempt", count_failures_only),), (SINGLE,)),
    Fault(
        "Measure",
        "a proposal is no attempt",
        ((growth, "count_attempt", none),),
        (GROWING,),
    ),
    Fault(
        "Measure",
        "results that are blocked are forgotten",
        ((Run, "all_attempts", without_what_is_blocked),),
        (HINDERED,),
    ),
    Fault("Measure", "more attempts start than are left", ((slots, "attempts_left", lambda *_: 99),), (PLAIN,)),
    Fault("Deciding", "a stop is overlooked", ((decisions, "finish", nothing),), (PEOPLE,)),
    Fault("Deciding", "work goes on during a redirect", ((decisions, "_interrupt", nothing),), (PEOPLE,)),
    Fault(
        "Deciding",
        "limits come before exhaustion",
        ((decisions, "reach_limits", limits_first), (finish, "_is_exhausted", no)),
        (SINGLE, PLAIN),
    ),
    Fault("Deciding", "a limit is called exhaustion", ((finish, "finish", always_exhausted),), (SINGLE,)),
    Fault(
        "Deciding",
        "the base case is not tried once more",
        (
            (Run, "end", lambda run, reason, **_: setattr(run, "ending", reason)),
            (finish, "verdict_is_due", no),
            (
                verification_schedule,
                "verdict_is_due",
                lambda run: not run.has_begun or (run.is_all_resolved() and not run.is_verified and run.ending is None),
            ),
        ),
        (PLAIN,),
    ),
    Fault(
        "Deciding",
        "the base case is not tried at the start",
        (handler(reports.Began, begin_at_once),),
        (SINGLE,),
    ),
    Fault("Deciding", "what is all resolved is completed", (handler(reports.Verified, complete_anyway),), (SINGLE,)),
    Fault(
        "Deciding",
        "merges happen while the base case is tried",
        ((merge_queue, "merge_next", merge_at_any_time),),
        (EARLY,),
    ),
    Fault("Deciding", "a worker's word is enough", (handler(reports.WorkDone, believe),), (SINGLE,)),
    Fault("Deciding", "a stop loses results", (handler(events.LoopStopped, forget_results),), (PEOPLE,)),
    Fault("Epochs", "late reports count", ((Run, "cancel", cancel_nothing),), (RACE, PEOPLE)),
    Fault(
        "Epochs",
        "a redirect begins no new epoch",
        (handler(events.RedirectRequested, redirect_in_the_same_epoch),),
        (PEOPLE,),
    ),
)
