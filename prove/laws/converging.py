"""Laws of convergence: what becomes smaller, what counts as a stall, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.effects import Withdrawn
from aotloop.core.measure import attempts_left
from prove.oracle import Plain
from prove.step import Step


def the_measure_becomes_smaller(step: Step) -> Iterator[str]:
    """By one with every attempt that counts, and by nothing else; only a person's correction makes it larger."""
    left = step.setting.max_total - step.loop.control.tried
    if left < 0:
        yield f"{step.loop.control.tried} attempts of {step.setting.max_total}"
    if attempts_left(step.loop) != max(left, 0):
        yield f"{attempts_left(step.loop)} attempts are said to be left, it is {left}"
    if attempts_left(step.loop) != step.before.measure - step.action.counts:
        yield f"attempts left: {step.before.measure} → {attempts_left(step.loop)} by: {step.action.name}"
    under_way = len(step.run.attempts) + len(step.run.blocked)
    if under_way > max(left, 0):
        yield f"{under_way} attempts are under way, {left} are left"


def successes_are_counted(step: Step) -> Iterator[str]:
    """With the attempts that they needed; what repairs need says nothing about other atoms."""
    control, before = step.loop.control, step.before.loop.control
    atom = Plain(step.before.loop).atoms[step.merged] if step.merged is not None else None
    won = atom is not None and atom.repairs is None
    if control.won != before.won + won:
        yield f"atoms won: {before.won} → {control.won} by: {step.action.name}"
    if control.needed != before.needed + (atom.failures + 1 if won and atom is not None else 0):
        yield f"attempts needed: {before.needed} → {control.needed} by: {step.action.name}"


def stalls_are_counted(step: Step) -> Iterator[str]:
    stalls, expected = step.loop.control.stall_count, step.ghost.expected_stalls
    if step.noted(events.GenerationEnded) and expected is not None and stalls != expected:
        yield f"{stalls} stalls, should be {expected}"


def a_generation_ends_when_its_attempts_have(step: Step) -> Iterator[str]:
    if step.ghost.ended_early:
        yield "attempts that belong to it are still under way"


def growth_that_leads_nowhere_is_withdrawn(step: Step) -> Iterator[str]:
    if step.ghost.is_to_be_withdrawn and not step.asked(Withdrawn):
        yield "it grew twice in a row, resolved nothing, and stays as it is"


def parts_depend_on_what_the_whole_depends_on(step: Step) -> Iterator[str]:
    for event in step.noted(events.AtomDecomposed):
        parent = event.parent
        for part in step.plain.parts(parent) if parent in step.plain.atoms else ():
            missing = set(step.plain.atoms[parent].depends_on) - set(step.plain.atoms[part].depends_on)
            if missing:
                yield f"{part} does not depend on {', '.join(missing)}"


def a_generation_lasts(step: Step) -> Iterator[str]:
    """For so many attempts that bad luck does not explain one without progress, as long as something can go on."""
    if step.ghost.ended_too_soon:
        yield "it was judged after too few attempts"
    if step.run.began is not None and step.loop.control.generation.least != step.ghost.least:
        yield f"it is to last for {step.loop.control.generation.least} attempts, should be {step.ghost.least}"
    generation = step.loop.control.generation
    if generation.outcomes != step.ghost.outcomes and not step.is_correction:
        yield f"{generation.outcomes} attempts ended in it, should be {step.ghost.outcomes}"


LAWS = (
    the_measure_becomes_smaller,
    successes_are_counted,
    a_generation_ends_when_its_attempts_have,
    growth_that_leads_nowhere_is_withdrawn,
    parts_depend_on_what_the_whole_depends_on,
    stalls_are_counted,
    a_generation_lasts,
)
