"""How a generation ends, and how a run does: why it cannot go on, and what is tried before it says so."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.conduct.checking import generation_is_over, verdict_is_due
from aotloop.core.conduct.run import Run
from aotloop.core.effects import Backtracked, Effect, Finished
from aotloop.core.endings import exhausted, find_a_way_out, hopeless, over_limit, stalled
from aotloop.core.generations import is_begun
from aotloop.core.units import choices_of


def close_generation(run: Run, at: str) -> list[Effect]:
    """Judged when all that were under way at its beginning have reported, and after the verdict, if one is due.

    What is only drained is not judged any more.
    """
    if run.ending is not None:
        run.is_open = False
    if not run.is_open or run.members or verdict_is_due(run) or run.verifying is not None or run.checking:
        return []
    if not generation_is_over(run):
        return []
    run.is_open = False
    if not run.loop.control.generation.outcomes:  # to wait is not to fail
        return []
    return run.advance(events.GenerationEnded(at=at))


def reach_limits(run: Run) -> None:
    """What ends a run first is the reason. While a generation is being judged, nothing is over."""
    is_judging = generation_is_over(run)
    if run.ending is None and run.has_begun and not is_judging and not _is_exhausted(run):
        is_open = run.is_open or is_begun(run.loop.control.generation)
        reason = stalled(run.board, run.limits) or over_limit(run.board, run.limits, is_open=is_open)
        if reason is not None:
            run.end(reason)


def set_aside(run: Run) -> None:
    """What is hopeless is not tried again; all else goes on. When nothing else can start, that is why it ends."""
    failed, run.failed = run.failed, set()
    for atom_id in sorted(failed):
        why = hopeless(run.board, atom_id)
        if why is not None:
            run.stuck |= dict.fromkeys(choices_of(run.board, atom_id), why)


def _is_exhausted(run: Run) -> bool:
    """Nothing is under way, nothing waited for, and nothing could start even without any limit."""
    if run.is_busy() or run.waiting or run.blocked_by:
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
    """For a command that was not tried again because nothing had moved, and now nothing will; and for a repair that
    was given up and is required again, by a choice that was freed.
    """
    run.sought.add(_combination(run))
    for found in _ways_out(run, at):
        effects += found
        if any(isinstance(one, Backtracked) for one in found):
            return _combination(run) not in run.sought
    return False


def _ways_out(run: Run, at: str) -> Iterator[list[Effect]]:
    """Each is looked for when it is asked for: one that has no way out does not keep another from its own."""
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
