"""What a failure leads to: recorded, counted, and undone exactly as far as it has to be."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.conduct import reports
from aotloop.core.effects import Backtracked, CancelAttempt, Resolved, Revert, StartAttempt, Withdrawn
from prove.oracle import Plain
from prove.step import Step


def a_failing_whole_is_mended(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.ParentChecked) or step.report.passed or step.asked(Backtracked):
        return
    parent = step.plain.atoms[step.report.atom]
    if parent.attempts < step.setting.max_attempts and all(map(step.plain.is_met, step.plain.parts(parent.id))):
        yield f"the check of {parent.id} failed, and nothing is to mend that"


def failures_are_recorded(step: Step) -> Iterator[str]:
    fresh = step.loop.trail[len(step.before.loop.trail) :]
    recorded = {entry.atom for entry in fresh if entry.type == "failure"}
    failed = {event.atom for event in step.noted(events.AtomFailed)}
    if failed - recorded:
        yield f"the failure of {', '.join(sorted(failed - recorded))} is not in the trail"
    if failed and isinstance(step.report, reports.MustWait | reports.MergeConflicted | reports.MergeBlocked):
        yield f"{step.action.name}, and that counts as a failure"


def failures_are_counted(step: Step) -> Iterator[str]:
    before = {atom.id: atom.attempts for atom in step.before.loop.atoms}
    failed = {event.atom for event in step.noted(events.AtomFailed)}
    begun_anew = {one for effect in step.asked(Backtracked) for one in effect.reset}
    begun_anew |= {event.parent for event in step.noted(events.AtomDecomposed)}
    used_up = failed | {event.atom for event in step.noted(events.AlternativeSought)}
    used_up |= {event.atom for event in step.noted(events.AtomProbed) if not event.feasible}
    for atom in step.loop.atoms:
        if atom.id not in before or step.is_correction or atom.id in begun_anew:
            continue
        if atom.id in failed and atom.attempts <= before[atom.id]:
            yield f"the failure of {atom.id} was not counted"
        if atom.id not in used_up and atom.attempts != before[atom.id]:
            yield f"attempts of {atom.id} went from {before[atom.id]} to {atom.attempts}"


def a_backtrack_resets_exactly_what_was_built_on_the_left_choice(step: Step) -> Iterator[str]:
    if step.is_correction:  # which resets by itself, before anything is taken up again
        return
    for effect in step.asked(Backtracked):
        plain = Plain(step.before.loop)
        parts = {effect.left} | plain.all_parts(effect.left)
        affected = parts | plain.built_on(parts)
        was = plain.atoms
        repairs = {one for one, atom in was.items() if atom.repairs is not None}
        own = {one for one in repairs if any(one in split.children for split in step.before.loop.decompositions)}
        for split in step.before.loop.decompositions:
            if split.parent not in affected:
                own -= set(split.children)
        globally = repairs - {one for split in step.before.loop.decompositions for one in split.children}
        if set(effect.dropped) & set(was) != (globally | own) - _withdrawn(step):
            yield f"repairs dropped: {effect.dropped}, to be dropped: {sorted(globally | own)}"
        yield from _resets(step, effect, affected)
        selections = [
            entry for entry in step.loop.trail[len(step.before.loop.trail) :] if entry.selected == effect.selected
        ]
        if not selections:
            yield f"the switch to {effect.selected} is not in the trail"
        group = step.loop.or_groups[effect.or_group]
        if (effect.left in group.failed) == (effect.left in group.blamed):
            yield f"{effect.left} is neither failed nor blamed, or both"


def _withdrawn(step: Step) -> set[str]:
    return {one for effect in step.asked(Withdrawn) for one in effect.atoms}


def _resets(step: Step, effect: Backtracked, affected: set[str]) -> Iterator[str]:
    before = {atom.id: atom for atom in step.before.loop.atoms}
    started = {one.atom for one in step.asked(StartAttempt)}
    cancelled = {one.atom for one in step.asked(CancelAttempt)}
    cancelled |= {one for other in step.asked(Backtracked) if other != effect for one in other.reset}
    concerned = {getattr(event, name, None) for event in step.run.noted for name in ("atom", "parent")}
    for atom in step.loop.atoms:
        if atom.id not in before:
            continue
        if atom.id in affected:
            if atom.status == "resolved" or atom.attempts or atom.id in step.loop.bindings:
                yield f"{atom.id} was built on {effect.left} and is not reset"
            continue
        is_concerned = atom.id in started | cancelled | concerned or bool(step.plain.parts(atom.id))
        is_same = (atom.status, atom.attempts) == (before[atom.id].status, before[atom.id].attempts)
        if not is_concerned and not is_same:
            yield f"{atom.id} has nothing to do with {effect.left} and was reset"
    resolved = {one for one in affected if one in before and before[one].status == "resolved"}
    resolved |= {one for one in effect.dropped if one in before and before[one].status == "resolved"}
    resolved |= {one for one in _resolved_now(step) if one in affected.union(effect.dropped)}
    if set(effect.undone) != resolved:
        yield f"to be taken back: {effect.undone}, had been resolved: {sorted(resolved)}"
    told = {atom for one in step.asked(Revert) for atom in one.atoms}
    if not resolved <= told.union(step.run.to_revert) and not step.run.finished:
        yield "what was given up is not taken back"


def _resolved_now(step: Step) -> set[str]:
    merged = {event.atom for event in step.noted(events.AtomResolved)}
    return merged | {effect.atom for effect in step.asked(Resolved)}


def a_choice_that_failed_itself_has_failed(step: Step) -> Iterator[str]:
    for effect in step.asked(Backtracked):
        failing = {event.atom for event in step.noted(events.AtomFailed)}
        failing |= {event.atom for event in step.noted(events.AlternativeSought)}
        group = step.loop.or_groups[effect.or_group]
        if _is_forced(step, effect):  # perhaps by another one's failures
            continue
        if effect.left in failing and effect.left not in group.failed and not group.blamed.get(effect.left):
            yield f"{effect.left} failed, rests on nothing else, and is only blamed"


def alternatives_are_weighed_before_one_is_taken(step: Step) -> Iterator[str]:
    """If the failure taught something, and there are several that could be taken."""
    report = step.report
    if not isinstance(report, reports.WorkFailed | reports.MergeRefused):
        return
    attempt = step.before.attempts.get(report.attempt)
    is_taught = not isinstance(report, reports.WorkFailed) or report.taught
    if attempt is None or attempt.weighs_for is not None or not is_taught:
        return
    plain = Plain(step.before.loop)
    for effect in step.asked(Backtracked):
        if _is_forced(step, effect):
            continue
        choices = [plain.atoms[one] for one in _could_be_taken(plain, effect, attempt.atom)]
        unknown = [one.id for one in choices if one.findings is None and one.run is None and one.status == "pending"]
        if len(choices) > 1 and unknown and not plain.loop.or_groups[effect.or_group].speculative:
            yield f"{', '.join(unknown)} were not probed before {effect.selected} was taken"


def _is_forced(step: Step, effect: Backtracked) -> bool:
    """Whether it was a stall that made the group switch."""
    judged = step.run.judged.or_groups.get(effect.or_group) if step.run.judged is not None else None
    return judged is not None and judged.selected == effect.left


def _could_be_taken(plain: Plain, effect: Backtracked, failing: str) -> list[str]:
    """A choice that needs what failed is no way around it."""
    users = plain.needing({failing})
    return [one for one in plain.untried(effect.or_group) if one not in users]


def the_cheapest_feasible_choice_is_next(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.ProbeReturned):
        return
    attempt = step.before.attempts[step.report.attempt]
    plain = step.plain
    group = plain.group_of(attempt.atom)
    is_given_up = group is None or attempt.atom in (*group.failed, *group.blamed)
    if not step.report.feasible and not is_given_up and not step.asked(Backtracked):
        yield f"{attempt.atom} is not feasible and has not failed"
    for effect in step.asked(Backtracked):
        is_weighed = attempt.weighs_for is not None and attempt.weighs_for in plain.atoms
        if not is_weighed or attempt.atom not in step.loop.or_groups[effect.or_group].choices:
            continue
        chosen = plain.atoms[effect.selected].estimate
        for other in _could_be_taken(plain, effect, attempt.weighs_for or ""):
            cost = plain.atoms[other].estimate
            if cost is not None and (chosen is None or cost < chosen):
                yield f"{other} is cheaper than {effect.selected}"


def a_race_has_one_winner(step: Step) -> Iterator[str]:
    for group in step.loop.or_groups.values():
        running = [
            one.atom for one in step.run.attempts.values() if one.atom in group.choices and one.weighs_for is None
        ]
        if step.plain.is_met(group.selected) and running:
            yield f"{', '.join(running)} still run, though {group.selected} has won"
        winner = step.merged
        has_won = winner is not None and winner in group.choices and not step.asked(Backtracked)
        if has_won and not step.plain.is_met(group.selected):
            yield f"{winner} was merged, and {group.selected} is taken for the winner"
        if not group.speculative and len(running) > 1:
            yield f"{', '.join(running)} race, though nobody asked for that"


LAWS = (
    a_failing_whole_is_mended,
    failures_are_recorded,
    failures_are_counted,
    a_backtrack_resets_exactly_what_was_built_on_the_left_choice,
    a_choice_that_failed_itself_has_failed,
    alternatives_are_weighed_before_one_is_taken,
    the_cheapest_feasible_choice_is_next,
    a_race_has_one_winner,
)
