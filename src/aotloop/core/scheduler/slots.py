"""Slots: what starts next. A slot is never idle while an atom can start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from aotloop.core import events
from aotloop.core.effects import Effect, StartAttempt
from aotloop.core.graph.touches import overlap
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.generations import is_begun
from aotloop.core.measure import attempts_left
from aotloop.core.model import Atom
from aotloop.core.scheduler.run_state import Attempt, Run

MOST_LOOKED_AT = 64


def fill_slots(run: Run) -> list[Effect]:
    """Starts ready atoms, best first. Then a generation is running."""
    effects: list[Effect] = []
    if run.loop.control.paused:
        return effects
    if run.ending is None and run.has_begun and not _is_reverting(run) and _another_may_start(run):
        left = attempts_left(run.loop, run.limits) - len(run.all_attempts())  # a blocked result counts too
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


def most_at_once(run: Run) -> int:
    """In the project's folder: one attempt, unless commands share the folder."""
    shared = any(atom.run is not None and (atom.parallel or atom.touches) for atom in run.loop.atoms)
    return slots(run) if shared or not run.shares_a_tree else 1


def _another_may_start(run: Run) -> bool:
    """In the running generation, as long as it lasts; otherwise the start belongs to the next generation."""
    generation = run.loop.control.generation
    if is_begun(generation) and (not run.is_open or generation.outcomes + len(run.attempts) < generation.least):
        return True
    return run.loop.control.iteration < run.limits.max_iterations


def _start_ready(run: Run, free: int) -> list[Effect]:
    effects: list[Effect] = []
    clashing: set[tuple[str, ...]] = set()
    candidates = run.board.best_ready() if free > 0 and not _is_taken(run) else iter(())
    if run.shares_a_tree and run.attempts:  # most atoms would be alone: it is no use to look at thousands of them
        candidates = islice(candidates, MOST_LOOKED_AT)
    for atom_id in candidates:
        touches = run.board.atoms[atom_id].touches
        if touches in clashing:  # clashes with a running or just started attempt
            continue
        if is_startable(run, atom_id):
            run.advance(events.AtomStarted(atom=atom_id))
            effects.append(_start(run, atom_id))
            run.sought.clear()
            if len(effects) >= free or _is_taken(run):
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
    """For a ready atom: it need not wait, is no command that would fail again, and clashes with no running atom."""
    if atom_id in run.waiting or atom_id in run.stuck or run.held.get(atom_id) == run.merges:
        return False
    touches = run.board.atoms[atom_id].touches
    if run.shares_a_tree:
        atom = run.board.atoms[atom_id]
        return all(_share_a_tree(atom, run.board.atoms[other.atom]) for other in run.all_attempts())
    if not touches and not run.apart:  # there can be no clash
        return True
    return not any(
        frozenset((atom_id, other.atom)) in run.apart or _touch(run, touches, other) for other in _workers(run)
    )


def _is_taken(run: Run) -> bool:
    """Whether an attempt that shares the tree with no other one is under way: then no candidate can start."""
    return run.shares_a_tree and any(_is_alone(run.board.atoms[attempt.atom]) for attempt in run.all_attempts())


def _is_alone(atom: Atom) -> bool:
    return atom.run is None or atom.probe or not (atom.touches or atom.parallel)


def _share_a_tree(atom: Atom, other: Atom) -> bool:
    """Two commands may share it if their files are disjoint, or both are `parallel`. An agent is always alone."""
    if atom.run is None or other.run is None or atom.probe or other.probe:
        return False
    if atom.touches and other.touches:
        return not overlap(atom.touches, other.touches)
    return atom.parallel and other.parallel


def _workers(run: Run) -> list[Attempt]:
    return [attempt for attempt in run.all_attempts() if attempt.role == "worker"]


def _touch(run: Run, touches: tuple[str, ...], other: Attempt) -> bool:
    others = run.board.atoms[other.atom].touches
    return bool(touches and others) and overlap(touches, others)


def start_now(graph: Graph, ready: Iterable[str], *, shares_a_tree: bool = False) -> list[str]:
    """Ready atoms, best first, that can start beside running atoms and beside each other.

    `shares_a_tree`: all atoms work on the same files. Then an atom without `touches` works alone.
    """
    under_way = [atom for atom in graph.loop.atoms if atom.status == "in_progress"]
    free = max(graph.loop.objective.constraints.max_parallel_agents - len(under_way), 0)
    return list(islice(_apart(graph, ready, under_way, shares_a_tree), free))


def _apart(graph: Graph, ready: Iterable[str], under_way: list[Atom], shares_a_tree: bool) -> Iterator[str]:
    others = list(under_way)
    for atom in (graph.atoms[atom_id] for atom_id in ready):
        if not any(_clash(atom, other, shares_a_tree) for other in others):
            others.append(atom)
            yield atom.id


def _clash(atom: Atom, other: Atom, shares_a_tree: bool) -> bool:
    if not (atom.touches and other.touches):
        return shares_a_tree
    return overlap(atom.touches, other.touches)
