"""Laws of failures: a failure is recorded, counted, and undone exactly as far as necessary."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core import events
from aotloop.core.effects import (
    Backtracked,
    CancelAttempt,
    Exhausted,
    Reopened,
    Resolved,
    Revert,
    StartAttempt,
    Withdrawn,
)
from aotloop.core.scheduler import reports
from prove.oracle import Plain, patience_of, turn_of
from prove.step import Step


def a_failing_whole_is_mended(step: Step) -> Iterator[str]:
    if not isinstance(step.report, reports.ParentChecked) or step.report.passed or step.asked(Backtracked):
        return
    parent = step.plain.atoms[step.report.atom]
    if not step.plain.is_required(parent.id):
        return
    if parent.attempts < patience_of(step.loop) and all(map(step.plain.is_met, step.plain.parts(parent.id))):
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
    """Those of a turn, and those of all turns; a negative probe counts as one turn that led nowhere."""
    if step.is_correction:
        return
    before = {atom.id: atom for atom in step.before.loop.atoms}
    turn = turn_of(step.before.loop)
    begun_anew = _split(step)
    for effect in step.asked(Backtracked):
        begun_anew |= set(effect.reset) - set(step.loop.or_groups[effect.or_group].choices)
    for atom in step.loop.atoms:
        if atom.id not in before or atom.id in begun_anew:
            continue
        counted = sum(event.atom == atom.id for event in step.noted(events.AtomFailed))
        counted += turn * sum(event.atom == atom.id and not event.feasible for event in step.noted(events.AtomProbed))
        if any(atom.id in effect.atoms for effect in step.asked(Reopened)):
            counted = 1 - before[atom.id].failures  # what it needed before is counted already
        if atom.failures != before[atom.id].failures + counted:
            yield f"failures of {atom.id} went from {before[atom.id].failures} to {atom.failures}"


def _split(step: Step) -> set[str]:
    """Atoms that were decomposed; a proposal that was refused is a failure."""
    refused = {event.atom for event in step.noted(events.AtomFailed)}
    return {event.parent for event in step.noted(events.AtomDecomposed)} - refused


def what_holds_is_kept_in_mind(step: Step) -> Iterator[str]:
    """Until the atom is resolved, or rests on something else."""
    before = {atom.id: atom for atom in step.before.loop.atoms}
    left_work = {event.atom for event in step.noted(events.AtomFailed) if event.progress}
    for atom in step.loop.atoms:
        was = before[atom.id].partial if atom.id in before else False
        begun_anew = atom.id in _split(step) or step.is_correction
        for effect in step.asked(Backtracked):
            is_other = atom.id not in step.loop.or_groups[effect.or_group].choices
            begun_anew = begun_anew or (atom.id in effect.reset and is_other)
        expected = (was or atom.id in left_work) and atom.status != "resolved"
        if atom.partial != expected and not begun_anew:
            yield f"{atom.id} has left work that holds: {expected}; it is remembered: {atom.partial}"
        if begun_anew and atom.partial and not step.is_correction:
            yield f"{atom.id} rests on something else now, and its work is still said to hold"


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
        if _is_last(step, effect) and (effect.left in group.failed) == (effect.left in group.blamed):
            yield f"{effect.left} is neither failed nor blamed, or both"


def _is_last(step: Step, effect: Backtracked) -> bool:
    """Whether no group switched after that in the same step."""
    return step.asked(Backtracked)[-1] is effect


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
            is_own = atom.id in step.loop.or_groups[effect.or_group].choices
            is_fresh = not (atom.failures or atom.partial) or is_own
            if atom.status == "resolved" or atom.attempts or not is_fresh or atom.id in step.loop.bindings:
                yield f"{atom.id} was built on {effect.left} and is not reset"
            continue
        is_concerned = atom.id in started | cancelled | concerned or bool(step.plain.parts(atom.id))
        is_same = (atom.status, atom.failures) == (before[atom.id].status, before[atom.id].failures)
        if not is_concerned and not is_same:
            yield f"{atom.id} has nothing to do with {effect.left} and was reset"
    resolved = {one for one in affected if one in before and before[one].status == "resolved"}
    resolved |= {one for one in effect.dropped if one in before and before[one].status == "resolved"}
    resolved |= {one for one in _resolved_now(step) if one in affected.union(effect.dropped)}
    landed = step.landed_before.intersection(affected.union(effect.dropped))
    if not landed <= set(effect.undone):
        yield f"to be taken back: {effect.undone}, on the branch: {sorted(landed)}"
    if set(effect.undone) - landed != resolved - landed:
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
        if not _is_last(step, effect):
            continue
        if effect.left in failing and effect.left not in group.failed and not group.blamed.get(effect.left):
            yield f"{effect.left} failed, rests on nothing else, and is only blamed"


def probes_are_made_where_they_are_wanted(step: Step) -> Iterator[str]:
    """If a person marked the atom, an agent asked, or it pays; and the answer is kept."""
    for one in step.asked(StartAttempt):
        if (one.role == "probe") != (one.atom in step.ghost.asked):
            yield f"{one.atom} was started as a {one.role}, a probe is wanted: {one.atom in step.ghost.asked}"
    if isinstance(step.report, reports.ProbeReturned):
        atom = step.plain.atoms.get(step.before.attempts[step.report.attempt].atom)
        if atom is not None and atom.findings != step.report.findings:
            yield f"what was found out about {atom.id} is forgotten"


def what_covers_a_failing_item_is_reopened(step: Step) -> Iterator[str]:
    """Instead of a repair; what depends on it stays as it is."""
    failed = step.noted(events.BaseCaseFailed)
    if not failed or step.asked(Backtracked) or Exhausted(atom=None) in step.effects:
        return
    items = set(failed[0].failing)
    before = Plain(step.before.loop)
    covering = {
        one for one, atom in before.atoms.items() if items.intersection(atom.covers) and before.is_required(one)
    }
    for one in covering:
        if step.plain.atoms[one].status == "resolved" or one in step.loop.bindings:
            yield f"{one} covers what fails, and is not done again"
    covered = {item for one in covering for item in before.atoms[one].covers}
    mended = [atom.repairs for one, atom in step.plain.atoms.items() if one not in before.atoms and atom.repairs]
    wholes = {split.parent for split in step.loop.decompositions}
    if set(mended) - wholes != items - covered:
        yield f"{sorted(items - covered)} fail and nothing covers them; repaired: {mended}"
    around = {one for one in before.atoms if before.all_parts(one) & covering} | covering
    for one, atom in before.atoms.items():
        if atom.status == "resolved" and one not in around and step.plain.atoms[one].status != "resolved":
            yield f"{one} does not cover what fails, and is to be done again"


def a_race_has_one_winner(step: Step) -> Iterator[str]:
    for group in step.loop.or_groups.values():
        running = [one.atom for one in step.run.attempts.values() if one.atom in group.choices]
        if step.plain.is_met(group.selected) and running:
            yield f"{', '.join(running)} still run, though {group.selected} has won"
        winner = step.merged
        has_won = winner is not None and winner in group.choices and not step.asked(Backtracked)
        if has_won and not step.plain.is_met(group.selected):
            yield f"{winner} was merged, and {group.selected} is taken for the winner"
        if not group.speculative and len(running) > 1:
            yield f"{', '.join(running)} race, though no group asks for that"


LAWS = (
    a_failing_whole_is_mended,
    failures_are_recorded,
    failures_are_counted,
    a_backtrack_resets_exactly_what_was_built_on_the_left_choice,
    a_choice_that_failed_itself_has_failed,
    what_holds_is_kept_in_mind,
    probes_are_made_where_they_are_wanted,
    what_covers_a_failing_item_is_reopened,
    a_race_has_one_winner,
)
