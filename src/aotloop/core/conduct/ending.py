"""How a generation ends, and how a run does: why it cannot go on, and what is tried before it says so."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.conduct.checking import verdict_is_due
from aotloop.core.conduct.run import Run
from aotloop.core.effects import Backtracked, Effect, Finished
from aotloop.core.limits import seconds

MOST_NAMED = 8


def close_generation(run: Run, at: str) -> list[Effect]:
    """Judged when all that were under way at its beginning have reported, and after the verdict, if one is due.

    What is only drained is not judged any more.
    """
    if run.ending is not None:
        run.is_open = False
    if not run.is_open or run.members or verdict_is_due(run) or run.verifying is not None or run.checking:
        return []
    run.is_open = False
    if not run.has_outcome:  # to wait is not to fail
        return []
    run.has_outcome = False
    return run.advance(events.GenerationEnded(at=at, is_weighing=bool(run.weighing)))


def reach_limits(run: Run) -> None:
    """What ends a run first is the reason. While a generation is being judged, nothing is over."""
    is_judging = run.is_open and not run.members
    if run.ending is None and run.has_begun and not is_judging and not _is_exhausted(run):
        reason = _stalled(run) or _over_limit(run)
        if reason is not None:
            run.end(reason)


def _stalled(run: Run) -> str | None:
    stalls = run.loop.control.stall_count
    if stalls < run.loop.objective.constraints.max_stall_count:
        return None
    return f"stalled: {stalls} generations in a row in which nothing got smaller"


def _over_limit(run: Run) -> str | None:
    control, limits = run.loop.control, run.limits
    if control.iteration >= limits.max_iterations and not run.is_open:
        return f"limit: {control.iteration} iterations, as many as allowed"
    if limits.max_runtime is not None and control.ran_seconds >= seconds(limits.max_runtime):
        return f"limit: it ran for {limits.max_runtime}, as long as allowed"
    if limits.max_cost_usd is not None and control.cost_usd >= limits.max_cost_usd:
        return f"limit: it cost ${control.cost_usd:.2f} of the ${limits.max_cost_usd:.2f} allowed"
    return None


def _is_exhausted(run: Run) -> bool:
    """Nothing is under way, nothing waited for, and nothing could start even without any limit."""
    if run.is_busy() or run.waiting or run.weighing or run.blocked_by:
        return False
    return not run.is_all_resolved() and next(run.board.best_ready(), None) is None


def get_unstuck(run: Run, at: str, effects: list[Effect]) -> bool:
    """Nothing is under way. Whether there is something more to decide; what it leads to is added to `effects`."""
    if run.ending is not None:
        is_outrun = run.ending.startswith(("stalled:", "limit:")) and _is_exhausted(run)
        effects += finish(run, _why_nothing_can_start(run) if is_outrun else run.ending)
        return False
    if run.waiting:
        return False
    if run.is_all_resolved():  # without a merge: an alternative that is taken had been resolved before
        run.is_verified = False
    elif run.blocked_by:
        run.end(f"blocked: {'; '.join(sorted(set(run.blocked_by.values())))}", can_be_unblocked=True)
    elif not _seek_alternatives(run, at, effects):
        run.end(_why_nothing_can_start(run))
    return True


def _seek_alternatives(run: Run, at: str, effects: list[Effect]) -> bool:
    """For a command that was not tried again because nothing had moved, and now nothing will; and for an atom that
    had failed for good and is required again, by a choice that was freed.
    """
    held = _first_held(run)
    for atom_id in [held] if held is not None else _spent(run):
        reason = "it failed, and nothing has changed since" if atom_id == held else "its attempts are spent"
        found = run.advance(events.AlternativeSought(atom=atom_id, reason=reason, at=at))
        effects += found
        if atom_id == held or any(isinstance(one, Backtracked) for one in found):
            return True
    return False


def _spent(run: Run) -> list[str]:
    unresolved = (run.board.atoms[one] for one in run.board.unresolved())
    return [atom.id for atom in unresolved if atom.status == "pending" and run.board.is_exhausted(atom.id)]


def _first_held(run: Run) -> str | None:
    return next((atom_id for atom_id in run.board.best_ready() if run.held.get(atom_id) == run.merges), None)


def _why_nothing_can_start(run: Run) -> str:
    if run.stuck:
        return f"blocked: {'; '.join(f'{atom}: {reason}' for atom, reason in run.stuck.items())}"
    spent = _spent(run)
    named = ", ".join(spent[:MOST_NAMED]) + (" …" if len(spent) > MOST_NAMED else "")
    return f"exhausted: every attempt and every alternative has failed for {named}" if spent else _why_waiting(run)


def _why_waiting(run: Run) -> str:
    named = ", ".join(run.board.unresolved()[:MOST_NAMED])
    return f"exhausted: nothing can start; not resolved: {named}"


def finish(run: Run, reason: str) -> list[Effect]:
    run.advance(events.LoopStopped(reason=reason))
    run.finished = True
    effects: list[Effect] = [run.cancel(attempt, discard=False) for attempt in run.all_attempts()]
    return [*effects, Finished(status="stopped", reason=reason)]
