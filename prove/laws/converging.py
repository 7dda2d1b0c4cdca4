"""What becomes smaller, what counts as a stall, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.effects import Backtracked, Withdrawn
from aotloop.core.measure import Measure
from prove.oracle import Plain
from prove.step import Step


def the_measure_becomes_smaller(step: Step) -> Iterator[str]:
    """With every attempt that counts; and never larger, unless a person corrects the loop."""
    if step.is_correction or step.run.loop.control.redirect_requested:
        return
    measured = Measure(step.loop, step.run.board)
    value, bound = measured.value, measured.attempts_left
    if step.action.counts and not (value < step.before.measure and bound < step.before.bound):
        yield f"{step.before.measure} → {value}, bound {step.before.bound} → {bound} by: {step.action.name}"
    elif bound > step.before.bound:
        yield f"{step.before.measure} → {value}, bound {step.before.bound} → {bound}"


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


def a_stall_changes_the_strategy(step: Step) -> Iterator[str]:
    ended = step.noted(events.GenerationEnded)
    control, limits = step.loop.control, step.loop.objective.constraints
    if not ended or control.stall_count != limits.max_stall_count - 1 or not control.stall_count:
        return
    judged = step.run.judged
    if judged is None or control.stall_count <= judged.control.stall_count:
        return
    plain = Plain(judged)
    open_groups = [
        name
        for name, group in judged.or_groups.items()
        if name in step.loop.or_groups  # not withdrawn at this very moment
        and plain.untried(name)
        and plain.is_required(group.selected)
        and (plain.was_begun(group.selected) or step.plain.parts(group.selected))
    ]
    if open_groups and not step.asked(Backtracked) and not step.run.weighing:
        yield f"it stalls, and {', '.join(open_groups)} did not switch"


LAWS = (
    the_measure_becomes_smaller,
    a_generation_ends_when_its_attempts_have,
    growth_that_leads_nowhere_is_withdrawn,
    parts_depend_on_what_the_whole_depends_on,
    stalls_are_counted,
    a_stall_changes_the_strategy,
)
