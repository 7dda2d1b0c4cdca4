"""Ways in which the machine could be wrong: each function stands for one of its own, and differs in one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from aotloop.core import (
    atoms,
    conflicts,
    context,
    endings,
    events,
    failure,
    generations,
    group_order,
    growth,
    parents,
    parts,
    status,
    tally,
    verdicts,
)
from aotloop.core.conduct import attempts, checking, conductor, starting
from aotloop.core.conduct.run import Run
from aotloop.core.effects import Backtracked, Finished, Integrate, Resolved

Patch = tuple[Any, str, Any]


def nothing(*_: Any, **__: Any) -> list[Any]:
    return []


def no(*_: Any, **__: Any) -> bool:
    return False


def yes(*_: Any, **__: Any) -> bool:
    return True


def none(*_: Any, **__: Any) -> None:
    return None


# --- single mutants ----------------------------------------------------------------------------------------------


def fail_without_holding(run: Run, attempt: Any, reason: str, at: str, *, taught: bool) -> Any:
    return run.advance(events.AtomFailed(atom=attempt.atom, reason=reason, at=at, weigh=taught))


def count_no_attempt(board: Any, event: Any) -> Any:
    before = board.atoms[event.atom].attempts
    effects = _FAIL(board, event)
    if event.atom in board.atoms and board.atoms[event.atom].attempts == before + 1:
        board.put(replace(board.atoms[event.atom], attempts=before))
    return effects


def reset_all(board: Any, _: Any) -> Any:
    return _RESET(board, set(board.atoms))


def reset_left_only(board: Any, atom_ids: Any) -> Any:
    selected = {group.selected for group in board.loop.or_groups.values()}
    choices = set(board.group_of)
    return _RESET(board, {one for one in atom_ids if one in choices and one not in selected})


def keep_attempts(board: Any, atom_ids: Any) -> Any:
    before = {one: board.atoms[one].attempts for one in atom_ids if one in board.atoms}
    changed = _RESET(board, atom_ids)
    for one, count in before.items():
        board.put(replace(board.atoms[one], attempts=count))
    return changed


def blame_always(board: Any, event: Any, *, failed: Any, blamed: Any) -> Any:
    del failed
    return _LEAVE(board, event, failed=None, blamed=blamed)


def leave_no_trail(board: Any, event: Any, **kwargs: Any) -> Any:
    effects = _LEAVE(board, event, **kwargs)
    board.loop.trail[:] = [entry for entry in board.loop.trail if entry.type != "selection"]
    return effects


def undo_nothing(board: Any, event: Any, **kwargs: Any) -> Any:
    return [replace(one, undone=()) if isinstance(one, Backtracked) else one for one in _LEAVE(board, event, **kwargs)]


def earliest_first(graph: Any, conflict: Any, ways: Any = None) -> Any:
    del ways
    order = group_order.group_order(graph)
    possible = [name for name in conflict if conflicts.untried(graph, graph.or_groups[name])]
    return (min(possible, key=lambda name: order[name]), set(conflict)) if possible else None


def resolve_at_once(board: Any, parent: str) -> Any:
    if board.atoms[parent].status != "pending":
        return []
    parents.resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def skip_the_check(board: Any, parent: str) -> Any:
    if board.atoms[parent].status != "pending" or board.waits_for(parent):
        return []
    parents.resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def count_repairs_too(loop: Any, _: Any) -> None:
    tally.something_got_smaller(loop)


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


def forget_members(run: Run, at: str) -> Any:
    if run.is_open and run.has_outcome:
        run.is_open, run.members, run.has_outcome = False, set(), False
        return run.advance(events.GenerationEnded(at=at))
    return []


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


def wait_is_failure(run: Run, report: Any) -> Any:
    attempt = run.take_off(report.attempt)
    return attempts.fail(run, attempt, report.reason, report.at, taught=True) if attempt is not None else []


def limits_first(run: Run) -> None:
    control, limits = run.loop.control, run.limits
    reason = endings.over_limit(control, limits, is_open=run.is_open) or endings.stalled(control, limits)
    if run.ending is None and run.has_begun and reason:
        run.end(reason)


def tell_everything(graph: Any, atom_id: str) -> Any:
    return replace(_CONTEXT(graph, atom_id), results=dict(graph.loop.bindings))


def parts_without_dependencies(board: Any, event: Any, parent: Any) -> Any:
    children, groups = _PARTS(board, event, parent)
    return [replace(one, depends_on=()) for one in children], groups


def dearest(board: Any, choices: Any) -> str:
    return str(max(choices, key=lambda one: board.atoms[one].estimate or 0))


def feasible_anyway(board: Any, event: Any) -> Any:
    return _PROBE(board, replace(event, feasible=True))


def every_round_is_the_first(board: Any, event: Any) -> Any:
    verdict = board.loop.control.verdict
    board.loop.control = replace(board.loop.control, verdict=replace(verdict, repair_rounds={}))
    return _REPAIR(board, event)


def growth_is_progress(board: Any, event: Any) -> Any:
    effects = _DECOMPOSE(board, event)
    tally.something_got_smaller(board.loop)
    return effects


def no_stall(board: Any, event: Any) -> Any:
    effects = _END(board, event)
    board.loop.control = replace(board.loop.control, stall_count=0)
    return effects


_FAIL, _RESET, _LEAVE, _PROBE = failure.fail, failure._reset, failure.leave, atoms.probe
_DONE, _VERIFIED, _CANCEL, _CONTEXT = attempts.done, checking.verified, Run.cancel, context.context_of
_REDIRECT, _STOP, _PARTS, _REPAIR = status.request_redirect, status.stop, parts.parts_of, verdicts.repair_base_case
_DECOMPOSE, _END = growth.decompose, generations.end_generation


def handler(kind: Any, mutant: Any) -> Patch:
    """Another way to handle one kind of report or event."""
    from aotloop.core import machine  # noqa: PLC0415
    from aotloop.core.conduct import reports  # noqa: PLC0415

    table = conductor if issubclass(kind, reports.Report) else machine
    return (table, "_HANDLERS", {**table._HANDLERS, kind: mutant})


def begun(original: Callable[..., None]) -> Callable[..., None]:
    def mutant(run: Run, *args: Any, **kwargs: Any) -> None:
        original(run, *args, **kwargs)
        run.has_begun = True

    return mutant


def start_as_worker(run: Run, atom_id: str, weighs_for: str | None) -> Any:
    effect = _START(run, atom_id, weighs_for)
    if weighs_for is None:
        run.attempts[effect.attempt] = replace(run.attempts[effect.attempt], role="worker")  # type: ignore[attr-defined]
    return effect


_START = starting._start
