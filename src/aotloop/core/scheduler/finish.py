"""The end of a generation and the end of a run: why it cannot continue, and what is tried before that."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.effects import Backtracked, Effect, EndAnnounced, Finished
from aotloop.core.graph.units import choices_of
from aotloop.core.handlers.generations import is_begun
from aotloop.core.policy.stop_reasons import exhausted, find_a_way_out, hopeless, is_out_of_time, over_limit, stalled
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.verification_schedule import generation_is_over, verdict_is_due


def close_generation(run: Run, at: str) -> list[Effect]:
    """Judges a generation after all its attempts have reported, and after the verdict, if one is due.

    A generation that only waits for running attempts to end is not judged any more.
    """
    if run.ending is not None:
        run.is_open = False
    if not run.is_open or run.members or verdict_is_due(run) or run.verifying is not None or run.checking:
        return []
    if not generation_is_over(run):
        return []
    run.is_open = False
    if not run.loop.control.generation.outcomes:  # waiting is not a failure
        return []
    return run.advance(events.GenerationEnded(at=at))


def reach_limits(run: Run) -> list[Effect]:
    """The first limit that is reached is the reason. While a generation is being judged, no limit ends the run.

    What runs is waited for, because it may still help; but no longer than the limit of time.
    """
    is_judging, was_ending = generation_is_over(run), run.ending is not None
    if not was_ending and run.has_begun and not is_judging and not _is_exhausted(run):
        is_open = run.is_open or is_begun(run.loop.control.generation)
        reason = stalled(run.board, run.limits) or over_limit(run.board, run.limits, is_open=is_open)
        if reason is not None:
            run.end(reason)
    return _wind_down(run, was_ending=was_ending) if run.ending is not None else []


def _wind_down(run: Run, *, was_ending: bool) -> list[Effect]:
    under_way = [
        attempt for number, attempt in run.attempts.items() if number not in run.to_merge and number != run.merging
    ]
    are_ended = is_out_of_time(run.board, run.limits)
    if not under_way or (was_ending and not are_ended):
        return []
    known = tuple((attempt.number, attempt.atom) for attempt in under_way)
    effects: list[Effect] = [EndAnnounced(reason=run.ending or "", attempts=known, are_ended=are_ended)]
    return effects + [run.cancel(attempt, discard=False) for attempt in under_way if are_ended]


def set_aside(run: Run) -> None:
    """Hopeless units are not tried again; all other work continues. They end the run when nothing else can start."""
    failed, run.failed = run.failed, set()
    for atom_id in sorted(failed):
        why = hopeless(run.board, atom_id)
        if why is not None:
            run.stuck |= dict.fromkeys(choices_of(run.board, atom_id), why)


def _is_exhausted(run: Run) -> bool:
    """Nothing runs, nothing is waited for, and nothing could start even without limits."""
    if run.is_busy() or run.waiting or run.blocked_by:
        return False
    return not run.is_all_resolved() and next(run.board.best_ready(), None) is None


def get_unstuck(run: Run, at: str, effects: list[Effect]) -> bool:
    """Called when nothing runs. Whether something is left to decide; its effects are added to `effects`."""
    if run.ending is not None:
        is_outrun = run.ending.startswith(("stalled:", "limit:")) and _is_exhausted(run)
        effects += finish(run, _why_nothing_can_start(run) if is_outrun else run.ending)
        return False
    if run.waiting or run.loop.control.paused:
        return False
    if run.is_all_resolved():  # no merge is needed: the new choice had been resolved before
        run.is_verified = False
    elif run.blocked_by:
        run.end(f"blocked: {'; '.join(sorted(set(run.blocked_by.values())))}", can_be_unblocked=True)
    elif not _seek_alternatives(run, at, effects):
        run.end(_why_nothing_can_start(run))
    return True


def _seek_alternatives(run: Run, at: str, effects: list[Effect]) -> bool:
    """Looks for alternatives to a command that waits for a change that will not come, and to a repair that was given up
    but is required again.
    """
    run.sought.add(_combination(run))
    for found in _ways_out(run, at):
        effects += found
        if any(isinstance(effect, Backtracked) for effect in found):
            return _combination(run) not in run.sought
    return False


def _ways_out(run: Run, at: str) -> Iterator[list[Effect]]:
    """Each alternative is computed on demand: an atom without one does not block the others."""
    held = [atom_id for atom_id in run.board.best_ready() if run.held.get(atom_id) == run.merges]
    if not held:
        yield find_a_way_out(run.board, run.advance, at)
    for atom_id in held:
        reason = "it failed, and nothing has changed since"
        yield run.advance(events.AlternativeSought(atom=atom_id, reason=reason, at=at))


def _combination(run: Run) -> tuple[str, ...]:
    return tuple(group.selected for group in run.loop.or_groups.values())


def _why_nothing_can_start(run: Run) -> str:
    if run.stuck:
        return f"blocked: {'; '.join(dict.fromkeys(run.stuck.values()))}"
    return exhausted(run.board)


def finish(run: Run, reason: str) -> list[Effect]:
    run.advance(events.LoopStopped(reason=reason))
    run.finished = True
    effects: list[Effect] = [run.cancel(attempt, discard=False) for attempt in run.all_attempts()]
    return [*effects, Finished(status="stopped", reason=reason)]
