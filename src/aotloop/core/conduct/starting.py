"""What starts next: slots are never idle while something is startable, and nothing starts that is not."""

from __future__ import annotations

from aotloop.core import events
from aotloop.core.conduct.run import Attempt, Run
from aotloop.core.effects import Effect, StartAttempt
from aotloop.core.generations import is_begun
from aotloop.core.measure import attempts_left
from aotloop.core.touches import overlap


def fill_slots(run: Run) -> list[Effect]:
    """What is ready, best first. Then a generation is under way."""
    effects: list[Effect] = []
    if run.ending is None and run.has_begun and not _is_reverting(run) and _another_may_start(run):
        left = attempts_left(run.loop, run.limits) - len(run.all_attempts())  # a result that is blocked counts, too
        effects += _start_ready(run, min(slots(run) - len(run.attempts), left))
    if not run.is_open and run.attempts and run.ending is None and _another_may_start(run):
        run.is_open = True
        run.members = set(run.attempts)
        run.advance(events.GenerationBegan())
    return effects


def _is_reverting(run: Run) -> bool:
    return run.reverting or bool(run.to_revert)


def slots(run: Run) -> int:
    return run.limits.max_parallel_agents


def _another_may_start(run: Run) -> bool:
    """In the generation that is under way, as long as it lasts; else it belongs to the one that begins next."""
    generation = run.loop.control.generation
    if is_begun(generation) and (not run.is_open or generation.outcomes + len(run.attempts) < generation.least):
        return True
    return run.loop.control.iteration < run.limits.max_iterations


def _start_ready(run: Run, free: int) -> list[Effect]:
    effects: list[Effect] = []
    clashing: set[tuple[str, ...]] = set()
    for atom_id in run.board.best_ready() if free > 0 else ():
        touches = run.board.atoms[atom_id].touches
        if touches in clashing:  # with something that runs, or was just started
            continue
        if is_startable(run, atom_id):
            run.advance(events.AtomStarted(atom=atom_id))
            effects.append(_start(run, atom_id))
            run.sought.clear()
            if len(effects) >= free:
                break
        elif touches and any(_touch(run, touches, other) for other in _workers(run)):
            clashing.add(touches)
    return effects


def _start(run: Run, atom_id: str) -> Effect:
    attempt = Attempt(
        number=run.next_number,
        atom=atom_id,
        epoch=run.loop.control.epoch,
        role="probe" if run.board.atoms[atom_id].probe else "worker",
        merges=run.merges,
    )
    run.next_number += 1
    run.attempts[attempt.number] = attempt
    return StartAttempt(attempt=attempt.number, atom=atom_id, epoch=attempt.epoch, role=attempt.role)


def is_startable(run: Run, atom_id: str) -> bool:
    """Of what is ready: no wait, no command that would fail again, and no clash with what runs."""
    if atom_id in run.waiting or atom_id in run.stuck or run.held.get(atom_id) == run.merges:
        return False
    touches = run.board.atoms[atom_id].touches
    if not touches and not run.apart:  # what it clashes with need not be looked for
        return True
    return not any(
        frozenset((atom_id, other.atom)) in run.apart or _touch(run, touches, other) for other in _workers(run)
    )


def _workers(run: Run) -> list[Attempt]:
    return [one for one in run.all_attempts() if one.role == "worker"]


def _touch(run: Run, touches: tuple[str, ...], other: Attempt) -> bool:
    others = run.board.atoms[other.atom].touches
    return bool(touches and others) and overlap(touches, others)
