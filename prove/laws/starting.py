"""Laws of starts: which work starts, which does not, and within which limits."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core import events
from aotloop.core.context import context_of
from aotloop.core.effects import StartAttempt, VerifyBaseCase
from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from prove.oracle import Plain, patience_of
from prove.shapes import MOST_PARTS
from prove.step import Step


def only_what_is_ready_starts(step: Step) -> Iterator[str]:
    started = step.asked(StartAttempt)
    if not started:
        return
    ids = [one.atom for one in started]
    earlier = step.loop.snapshot()
    earlier.atoms = [
        msgspec.structs.replace(atom, status="pending") if atom.id in ids and atom.status == "in_progress" else atom
        for atom in earlier.atoms
    ]
    plain = Plain(earlier)
    for one in started:
        attempt = step.run.attempts.get(one.attempt)
        if attempt is None:
            yield f"{one.atom} was started and forgotten"
        elif not plain.is_ready(attempt.atom):
            yield f"{attempt.atom} was started and is not ready"
        elif (attempt.role == "probe") != plain.atoms[attempt.atom].probe:
            yield f"{attempt.atom} was started as a {attempt.role}"
        elif attempt.atom in step.ghost.hopeless:
            yield f"{attempt.atom} would fail again in the same way"


def the_best_starts_first(step: Step) -> Iterator[str]:
    """What was never tried, then the longest way, most users, fewest failures, the order of the file."""
    started = [one.atom for one in step.asked(StartAttempt)]
    if not started or step.asked(VerifyBaseCase):
        return
    plain, run = step.plain, step.run
    held = {atom for atom, merges in run.held.items() if merges == run.merges}
    left = {one for one in plain.atoms if plain.is_ready(one)} - held - set(run.waiting) - set(run.stuck) - _apart(step)
    last = started[-1]
    better = [one for one in left if plain.rank(one) < plain.rank(last)]
    if better:
        yield f"{last} was started before {', '.join(better)}"


def _apart(step: Step) -> set[str]:
    """What clashes with something under way."""
    run = step.run
    clashing = {one for pair in run.apart for one in pair if any(a.atom in pair for a in run.all_attempts())}
    if step.setting.touching and any(one.atom in {"A1", "A2"} for one in run.all_attempts()):
        clashing |= {"A1", "A2"}
    return clashing


def slots_are_filled_and_not_exceeded(step: Step) -> Iterator[str]:
    run, slots = step.run, step.setting.slots
    if len(run.attempts) > slots:
        yield f"{len(run.attempts)} attempts at once, {slots} allowed"
    control = step.loop.control
    is_held_back = (
        run.finished
        or run.ending is not None
        or run.reverting
        or run.to_revert
        or not run.has_begun
        or control.redirect_requested
        or control.iteration >= step.setting.max_iterations
        or control.tried + len(run.all_attempts()) >= step.setting.max_total
    )
    if is_held_back or len(run.attempts) >= slots:
        return
    plain = step.plain
    held = {atom for atom, merges in run.held.items() if merges == run.merges}
    kept = held | set(run.waiting) | set(run.stuck) | _apart(step)
    idle = {one for one in plain.atoms if plain.is_ready(one)} - kept
    if idle:
        yield f"a slot is idle while {', '.join(sorted(idle))} could start"


def limits_hold(step: Step) -> Iterator[str]:
    limits = step.setting
    if step.loop.control.iteration > limits.max_iterations:
        yield f"iteration {step.loop.control.iteration} of {limits.max_iterations}"
    if step.loop.control.stall_count > limits.max_stall:
        yield f"{step.loop.control.stall_count} stalls of {limits.max_stall}"
    verdict = step.loop.control.verdict
    rounds = max(verdict.repair_rounds.values(), default=0) if verdict is not None else 0
    if step.setting.is_experienced and rounds > patience_of(step.loop):  # else it may have had another length
        yield "more rounds of repair than patience has"
    for event in step.noted(events.AtomDecomposed):
        parts = step.plain.parts(event.parent) if event.parent in step.plain.atoms else []
        if len(parts) > MOST_PARTS:
            yield f"{event.parent} has {len(parts)} parts"
    depth = max((_depth(step.loop, atom.id) for atom in step.loop.atoms if atom.repairs is None), default=0)
    if depth > max(limits.max_depth, 1):
        yield f"parts {depth} levels deep"


def _depth(loop: Loop, atom: str) -> int:
    above = [split.parent for split in loop.decompositions if atom in split.children]
    return 1 + max(_depth(loop, one) for one in above) if above else 0


def what_conflicted_runs_apart(step: Step) -> Iterator[str]:
    running = {one.atom for one in step.run.attempts.values() if one.role == "worker"}
    for pair in step.run.apart:
        if pair <= running and len(pair) > 1:
            yield f"{' and '.join(sorted(pair))} run at once again"
    if step.setting.touching and {"A1", "A2"} <= running:
        yield "A1 and A2 change the same files, and run at once"


def a_worker_is_told_what_it_builds_on_and_no_more(step: Step) -> Iterator[str]:
    for started in step.asked(StartAttempt):
        told = context_of(step.run.board, started.atom)
        expected: set[str] = set()
        open_ids = list(told.atom.depends_on)
        for needed in open_ids:
            group = step.plain.group_of(needed)
            chosen = needed if group is None else group.selected
            parts = step.plain.parts(chosen)
            open_ids += parts
            if not parts:
                expected.add(chosen)
        if set(told.results) != expected:
            yield f"{told.atom.id} builds on {sorted(expected)} and is told of {sorted(told.results)}"


def the_base_case_is_tried_first(step: Step) -> Iterator[str]:
    if isinstance(step.report, reports.Began) and (not step.asked(VerifyBaseCase) or step.asked(StartAttempt)):
        yield "work begins before the base case was tried"


LAWS = (
    only_what_is_ready_starts,
    the_best_starts_first,
    slots_are_filled_and_not_exceeded,
    limits_hold,
    what_conflicted_runs_apart,
    a_worker_is_told_what_it_builds_on_and_no_more,
    the_base_case_is_tried_first,
)
