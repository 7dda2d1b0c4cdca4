"""Laws of turns: the length of a turn, the next choice, the blame of an earlier choice, and the effect of a hint."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core import events
from aotloop.core.effects import Backtracked
from aotloop.core.model import OrGroup
from aotloop.core.policy import turns
from aotloop.core.scheduler import reports
from prove.oracle import Plain, at_worst, is_hopeful, patience_of, turn_of
from prove.step import Step
from prove.world import NEVER


class _Failure(msgspec.Struct):
    """Of an atom that is required, and no repair and no whole."""

    atom: str
    group: OrGroup | None
    name: str | None
    failures: dict[str, int]
    """Of every choice of its unit, this failure counted."""
    is_turn_over: bool
    is_final: bool
    is_out_of_patience: bool
    fresh: list[str]
    """Other choices that had no turn here; nothing is to blame before they had."""


def _failure(step: Step) -> _Failure | None:
    plain, loop = Plain(step.before.loop), step.before.loop
    failed = [one for one in step.run.noted if _is_failure(one)]
    if step.is_correction or len(failed) != 1 or step.noted(events.AlternativeSought):
        return None
    event = failed[0]
    assert isinstance(event, events.AtomFailed | events.AtomProbed)
    atom = plain.atoms[event.atom]
    if atom.repairs is not None or plain.parts(atom.id) or not plain.is_required(atom.id):
        return None
    counted = turn_of(loop) if isinstance(event, events.AtomProbed) else 1
    unit = plain.unit(atom.id)
    failures = {one: plain.atoms[one].failures + (counted if one == atom.id else 0) for one in unit}
    is_final = isinstance(event, events.AtomFailed) and atom.run is not None
    group = plain.group_of(atom.id)
    had_turns = {*group.failed, *group.blamed, atom.id} if group is not None and not group.speculative else set(unit)
    return _Failure(
        atom=atom.id,
        group=group,
        name=next((name for name, one in loop.or_groups.items() if atom.id in one.choices), None),
        failures=failures,
        is_turn_over=is_final or atom.attempts + counted >= turn_of(loop),
        is_final=is_final,
        is_out_of_patience=sum(failures.values()) >= patience_of(loop) * len(unit),
        fresh=[one for one in unit if one not in had_turns and not failures[one]],
    )


def _is_failure(event: events.Event) -> bool:
    return isinstance(event, events.AtomFailed) or (isinstance(event, events.AtomProbed) and not event.feasible)


def a_turn_ends_when_it_is_over(step: Step) -> Iterator[str]:
    """And not before; then the one that failed least is next, unless patience is at its end."""
    failure = _failure(step)
    if failure is None or step.ghost.heeded:
        return
    left = step.asked(Backtracked)
    if not failure.is_turn_over:
        if left:
            yield f"{failure.atom} is in its turn, and {left[0].left} was left"
        return
    if failure.is_out_of_patience and failure.fresh:
        if [one.selected for one in left if one.or_group == failure.name] == []:
            yield f"{failure.atom} fails again and again, and {', '.join(failure.fresh)} had no turn"
        return
    if failure.is_out_of_patience and _to_blame(step, failure):
        return
    if any(one.or_group != failure.name for one in left) and not failure.is_out_of_patience:
        yield f"{left[0].left} was blamed, and {failure.atom} only had bad luck"
    is_there = failure.name in step.loop.or_groups  # not withdrawn at this very moment
    if is_there and all(one.or_group == failure.name for one in left):
        expected = _next(step, failure)
        selected = step.loop.or_groups[failure.name or ""].selected
        if selected != expected:
            yield f"after {failure.atom} it is the turn of {expected}, not of {selected}"


def _next(step: Step, failure: _Failure) -> str:
    """Work that holds goes first; then the fewest failures, a blame counting for some; then the order of the file."""
    group, plain = failure.group, Plain(step.before.loop)
    assert group is not None

    def score(choice: str) -> tuple[bool, int, int]:
        atom, failures = plain.atoms[choice], failure.failures[choice]
        if choice == failure.atom and _left_work(step):
            atom = msgspec.structs.replace(atom, partial=True)
        is_first = is_hopeful(step.before.loop, atom, group, failures)
        return not is_first, failures + turns.BLAME * group.blames.get(choice, 0), group.choices.index(choice)

    others = [one for one in group.choices if one != failure.atom]
    return min(others if failure.is_final and others else group.choices, key=score)


def _left_work(step: Step) -> bool:
    return isinstance(step.report, reports.WorkFailed) and step.report.progress


def _to_blame(step: Step, failure: _Failure) -> set[str]:
    """Earlier groups that it rests on, and that could choose otherwise."""
    plain = Plain(step.before.loop)
    names = plain.rests_on(failure.atom) - {failure.name}
    return {name for name in names if len(step.before.loop.or_groups[name].choices) > 1}


def patience_has_an_end(step: Step) -> Iterator[str]:
    """What fails more often than bad luck explains is owed to an earlier choice, if there is one."""
    failure = _failure(step)
    if failure is None or step.ghost.heeded or not failure.is_turn_over or not failure.is_out_of_patience:
        return
    earlier = _to_blame(step, failure) if not failure.fresh else set()
    if earlier and all(one.or_group == failure.name for one in step.asked(Backtracked)):
        yield f"{failure.atom} fails again and again, and none of {', '.join(sorted(earlier))} is to blame"


def repairs_have_patience(step: Step) -> Iterator[str]:
    """Each, and the rounds of them, as much as a choice; then an earlier choice is to blame."""
    if step.setting.is_experienced and not step.run.finished and step.run.ending is None:
        for item, rounds in step.ghost.rounds:
            if rounds > patience_of(step.loop):
                yield f"{item} is repaired for the {rounds}. time"
    before, failed = Plain(step.before.loop), step.noted(events.AtomFailed)
    if len(failed) != 1 or step.ghost.heeded or step.noted(events.AlternativeSought):
        return
    atom = before.atoms[failed[0].atom]
    if atom.repairs is None or not before.is_required(atom.id):
        return
    is_spent = atom.attempts + 1 >= patience_of(step.before.loop)
    if step.asked(Backtracked) and not is_spent:
        yield f"{atom.id} only had bad luck, and {step.asked(Backtracked)[0].left} was left"
    earlier = {name for name in before.rests_on(atom.id) if len(step.before.loop.or_groups[name].choices) > 1}
    if is_spent and earlier and not step.asked(Backtracked):
        yield f"{atom.id} fails again and again, and none of {', '.join(sorted(earlier))} is to blame"


def every_choice_has_its_turn(step: Step) -> Iterator[str]:
    """Before any has two more: of choices that rest on the same, and of which nothing else is known."""
    plain, longest = step.plain, step.setting.max_attempts
    if step.setting.covers or step.setting.progress or step.setting.hints:
        return
    for group in step.loop.or_groups.values():
        atoms = [plain.atoms[one] for one in group.choices]
        is_special = (
            group.speculative or bool(group.blames) or any(one.partial or one.run or one.findings for one in atoms)
        )
        if is_special or any(plain.parts(one.id) for one in atoms):
            continue
        if len({frozenset(plain.rests_on(one.id)) for one in atoms}) > 1:
            continue
        least, most = min(one.failures for one in atoms), max(one.failures for one in atoms)
        if most > least + longest:
            yield f"one of {', '.join(group.choices)} failed {most} times, another only {least} times"


def a_hint_counts_when_it_is_credible(step: Step) -> Iterator[str]:
    left = {one.left for one in step.asked(Backtracked)}
    for choice in step.ghost.heeded:
        if choice not in left:
            yield f"{choice} was named twice, or with good reason, and stays"
    failure = _failure(step)
    hinted = isinstance(step.report, reports.WorkFailed) and step.report.because_of
    if failure is not None and hinted and not step.ghost.heeded and not failure.is_out_of_patience:
        for choice in left.intersection(hinted):
            yield f"{choice} was left when it was named for the first time, without good reason"


def rounds_are_kept(step: Step) -> Iterator[str]:
    """What has had its turn in a round is not selected; only another round, or another earlier choice, frees it."""
    for name, group in step.loop.or_groups.items():
        if group.selected in group.failed or group.selected in group.blamed:
            yield f"{group.selected} is selected, and has had its turn in this round"
        before = step.before.loop.or_groups.get(name)
        if before is None or step.is_correction:
            continue
        if group.round < before.round:
            yield f"{name} went back from round {before.round} to {group.round}"
        if group.round == before.round and set(before.failed) - set(group.failed):
            yield f"{name} forgot who has had a turn in round {group.round}"
        if any(group.blames.get(one, 0) < times for one, times in before.blames.items()):
            yield f"{name} forgot the choice that it blamed"
    for effect in step.asked(Backtracked):
        group = step.loop.or_groups[effect.or_group]
        before = step.before.loop.or_groups[effect.or_group]
        was_left = effect.selected in before.failed or effect.selected in before.blamed
        others = [one for one in step.asked(Backtracked) if one != effect]
        if was_left and group.round == before.round and not others:
            yield f"{effect.selected} has had its turn, and is taken in the same round"


def a_blame_is_counted(step: Step) -> Iterator[str]:
    """Where a choice is left for what was built on it; not where it failed itself."""
    failed = {event.atom for event in step.run.noted if isinstance(event, events.AtomFailed | events.AtomProbed)}
    sought = step.noted(events.AlternativeSought)
    for effect in step.asked(Backtracked) if not sought and not step.is_correction else ():
        before, after = step.before.loop.or_groups[effect.or_group], step.loop.or_groups[effect.or_group]
        more = after.blames.get(effect.left, 0) - before.blames.get(effect.left, 0)
        if more != (0 if effect.left in failed else 1):
            yield f"{effect.left} is blamed {more} times more"


def what_is_hopeless_is_set_aside(step: Step) -> Iterator[str]:
    """The choices of a unit failed alike, on any basis, together far more often than bad luck explains."""
    if step.setting.hopeless >= NEVER or step.setting.speculative or step.run.finished or step.is_correction:
        return
    times = {atom: count for atom, count, _ in step.ghost.alike}
    hardest = max((one.failures for one in step.loop.atoms if one.status == "resolved"), default=0)
    enough = max(turns.HOPELESS * turns.PATIENCE * at_worst(step.loop), turns.HARDER * hardest)
    for event in step.noted(events.AtomFailed):
        is_work = event.atom in step.plain.atoms and not step.plain.parts(event.atom)
        unit = step.plain.unit(event.atom) if is_work else ()
        most = max(turns.MOST * step.setting.max_total, step.setting.hopeless * len(unit))
        together = len(unit) * min((times.get(one, 0) for one in unit), default=0)
        is_hopeless = bool(unit) and together >= min(enough, most)
        is_aside = bool(unit) and all(" in the same way" in step.run.stuck.get(one, "") for one in unit)
        is_needed = any(map(step.plain.is_required, unit)) and not step.noted(events.AlternativeSought)
        if is_hopeless and not is_aside and is_needed:
            yield f"{', '.join(unit)} fail alike again and again, and are not set aside"
        if is_aside and not is_hopeless:
            yield f"{', '.join(unit)} are set aside, and are not hopeless"


LAWS = (
    a_turn_ends_when_it_is_over,
    patience_has_an_end,
    repairs_have_patience,
    every_choice_has_its_turn,
    a_hint_counts_when_it_is_credible,
    rounds_are_kept,
    a_blame_is_counted,
    what_is_hopeless_is_set_aside,
)
