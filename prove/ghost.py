"""The ghost: an independent memory for the laws, of generations, hints, probes, and work on the branch."""

from __future__ import annotations

from math import ceil
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Backtracked, Effect, Revert
from aotloop.core.model import Loop
from aotloop.core.policy import turns
from aotloop.core.scheduler import reports
from prove.oracle import Plain, at_worst, patience_of, usual_of
from prove.world import NEVER, Action, NotedRun, unresolved_of

Said = tuple[str, str]
"""The agent that said it, and the choice that blocks it."""


class Ghost(msgspec.Struct, frozen=True):
    fewest_unresolved: int = 0
    has_resolved: bool = False
    has_grown: bool = False
    grew_before: bool = False
    has_new_choice: bool = False
    fewest: int | None = None
    has_fewer_failing: bool = False
    outcomes: int = 0
    least: int = 0
    is_tried: bool = False
    """The base case was tried after the last thing that changed anything."""
    members: frozenset[int] = frozenset()
    """The attempts that were under way when the generation began and have not been reported."""
    hopeless: frozenset[str] = frozenset()
    """Commands that failed, and nothing has been merged since they began."""
    taken: frozenset[tuple[str, str]] = frozenset()
    """Groups, and choices that were selected in them at some time."""
    said: frozenset[Said] = frozenset()
    """Hints that were given once."""
    asked: frozenset[str] = frozenset()
    """Atoms for which a probe is wanted."""
    landed: frozenset[str] = frozenset()
    """Atoms whose work is on the branch."""
    alike: tuple[tuple[str, int, str], ...] = ()
    """Atoms, how often they failed alike in a row, and how; kept only where that can end a run."""
    rounds: tuple[tuple[str, int], ...] = ()
    """Items, and how often each was to be repaired since a choice was left last."""
    expected_stalls: int | None = None
    ended_early: bool = False
    ended_too_soon: bool = False
    is_to_be_withdrawn: bool = False
    heeded: frozenset[str] = frozenset()
    """Choices that were named for the second time."""


OF_ONE_STEP: dict[str, Any] = {
    "expected_stalls": None,
    "ended_early": False,
    "ended_too_soon": False,
    "is_to_be_withdrawn": False,
    "heeded": frozenset(),
}


def beginning(loop: Loop) -> Ghost:
    taken = frozenset((name, group.selected) for name, group in loop.or_groups.items())
    asked = frozenset(atom.id for atom in loop.atoms if atom.probe)
    return Ghost(fewest_unresolved=unresolved_of(loop), taken=taken, asked=asked)


def watch(ghost: Ghost, run: NotedRun, before: Loop, action: Action, effects: list[Effect]) -> Ghost:
    """After a step. What happened until the generation ended belongs to it, the rest to the next one."""
    report = action.report
    is_tried = ghost.is_tried and not isinstance(report, reports.Merged | reports.Reverted)
    ghost = replace(ghost, is_tried=is_tried, **OF_ONE_STEP)
    ghost = _commands(_membership(ghost, run), run, report)
    ghost = _branch(_probes(_alike(_hints(ghost, run, before, effects), run), run, before), run, effects)
    ghost = _rounds(ghost, run, effects)
    if any(isinstance(event, events.Corrected) for event in run.noted):
        kept = replace(beginning(run.loop), taken=ghost.taken | beginning(run.loop).taken, members=ghost.members)
        failed = {atom.id for atom in run.loop.atoms if atom.alike}
        kept = replace(kept, alike=tuple(one for one in ghost.alike if one[0] in failed))
        kept = replace(kept, fewest=ghost.fewest, landed=ghost.landed, said=_hints_of(run.loop))
        return replace(kept, least=_least(run.began)) if run.began is not None else kept
    ghost = _verdicts(replace(ghost, outcomes=ghost.outcomes + action.counts), run)
    ghost = replace(ghost, fewest_unresolved=ghost.fewest_unresolved + run.grown_by)
    earlier, later = (
        {(name, one) for is_later, name, one in run.switched if is_later == when} for when in (False, True)
    )
    if run.judged is None:
        ghost = _noting(ghost, before, run.loop, earlier)
    else:
        ghost = _judge(_noting(ghost, before, run.judged, earlier), run)
        ghost = _noting(ghost, run.judged, run.loop, later, withdrawn=True)
    return replace(ghost, least=_least(run.began)) if run.began is not None else ghost


def _least(loop: Loop) -> int:
    """How many attempts the generation that begins now has at least."""
    plain = Plain(loop)
    open_ids = plain.unresolved()
    ways = [len(plain.unit(one)) for one in open_ids]
    return max(1, sum(ways), ceil(turns.SWEEPS * at_worst(loop) * max(ways, default=1)))


def _membership(ghost: Ghost, run: NotedRun) -> Ghost:
    members = ghost.members & set(run.attempts)
    for event in run.noted:
        if isinstance(event, events.GenerationEnded):
            ghost = replace(ghost, ended_early=bool(members))
        if isinstance(event, events.GenerationBegan):
            members = frozenset(run.attempts)
    return replace(ghost, members=members)


def _commands(ghost: Ghost, run: NotedRun, report: reports.Report) -> Ghost:
    if isinstance(report, reports.Merged | reports.Reverted):
        return replace(ghost, hopeless=frozenset())
    failed = {
        event.atom
        for event in run.noted
        if isinstance(event, events.AtomFailed) and event.atom in run.board.atoms and run.board.atoms[event.atom].run
    }
    if isinstance(report, reports.WorkFailed) and failed and run.last_began == run.merges:
        ghost = replace(ghost, hopeless=ghost.hopeless | failed)
    return ghost


def _hints_of(loop: Loop) -> frozenset[Said]:
    given = (one for group in loop.or_groups.values() for one in group.hints.items())
    return frozenset((speaker, choice) for choice, speakers in given for speaker in speakers)


def _hints(ghost: Ghost, run: NotedRun, before: Loop, effects: list[Effect]) -> Ghost:
    plain, said, heeded = Plain(before), set(ghost.said), set[str]()
    for event in run.noted:
        if not isinstance(event, events.AtomFailed) or not plain.is_required(event.atom):
            continue
        speaker = plain.atoms[event.atom].repairs or event.atom
        for choice in event.because_of:
            if any(choice == named for _, named in said) or _is_credible(plain, event.atom, choice):
                heeded.add(choice)
            said.add((speaker, choice))
    left = {effect.left for effect in effects if isinstance(effect, Backtracked)}
    known = {atom.id for atom in run.loop.atoms} | {"item 1", "item 2"}
    kept = frozenset(one for one in said if one[1] not in left and one[0] in known)
    return replace(ghost, said=kept, heeded=frozenset(heeded))


def _is_credible(plain: Plain, failing: str, choice: str) -> bool:
    """A first hint, by an atom that has failed for a while, where another choice was never blamed."""
    group = plain.group_of(choice)
    others = [one for one in group.choices if one != choice] if group is not None else []
    is_any_innocent = group is not None and any(not group.blames.get(one) for one in others)
    return is_any_innocent and plain.failures(failing) + 1 >= turns.HINT * usual_of(plain.loop)


def _probes(ghost: Ghost, run: NotedRun, before: Loop) -> Ghost:
    asked = set(ghost.asked)
    for event in run.noted:
        if isinstance(event, events.AtomProbed | events.AtomFailed):
            asked.discard(event.atom)
        if isinstance(event, events.AtomFailed) and event.wants_probe:
            asked.add(event.atom)
    if run.loop.control.prices.probes:  # as they are here, a probe pays
        was = {name: group.selected for name, group in before.or_groups.items()}
        pending = {atom.id for atom in before.atoms if atom.status == "pending"}
        plain = Plain(run.loop)
        for name, group in run.loop.or_groups.items():
            atom = plain.atoms[group.selected]
            is_new = was.get(name, atom.id) != atom.id
            is_open = atom.id in pending and atom.run is None and not plain.parts(atom.id)
            if is_new and is_open and atom.findings is None and not atom.failures:
                asked.add(atom.id)
    return replace(ghost, asked=frozenset(one for one in asked if one in run.board.atoms))


def _alike(ghost: Ghost, run: NotedRun) -> Ghost:
    if turns.HOPELESS >= NEVER:
        return ghost
    found = {atom: (times, reason) for atom, times, reason in ghost.alike}
    for event in run.noted:
        if isinstance(event, events.AtomFailed) or (isinstance(event, events.AtomProbed) and not event.feasible):
            reason = event.reason if isinstance(event, events.AtomFailed) else "not feasible"
            times, last = found.get(event.atom, (0, ""))
            is_same = reason == last and times > 0
            found[event.atom] = (times + 1 if is_same else 1, reason)
    now = {atom.id: atom for atom in run.loop.atoms}
    split = {event.parent for event in run.noted if isinstance(event, events.AtomDecomposed)} - {
        event.atom for event in run.noted if isinstance(event, events.AtomFailed)
    }
    kept = {one for one in found if one in now and now[one].status != "resolved" and one not in split}
    return replace(ghost, alike=tuple((one, *found[one]) for one in sorted(kept)))


def _branch(ghost: Ghost, run: NotedRun, effects: list[Effect]) -> Ghost:
    wholes = {split.parent for split in run.loop.decompositions}  # which contribute by their parts
    resolved = {event.atom for event in run.noted if isinstance(event, events.AtomResolved)} - wholes
    back = {one for effect in effects if isinstance(effect, Revert) for one in effect.atoms}
    back |= {one for effect in effects if isinstance(effect, Backtracked) for one in effect.undone}
    return replace(ghost, landed=(ghost.landed | resolved) - back.union(run.to_revert))


def _rounds(ghost: Ghost, run: NotedRun, effects: list[Effect]) -> Ghost:
    rounds = dict(ghost.rounds)
    for event in run.noted:
        if isinstance(event, events.BaseCaseFailed):
            rounds |= {item: rounds.get(item, 0) + 1 for item in event.failing}
    if any(isinstance(effect, Backtracked) for effect in effects):
        rounds = {}
    return replace(ghost, rounds=tuple(sorted(rounds.items())))


def _verdicts(ghost: Ghost, run: NotedRun) -> Ghost:
    for event in run.noted:
        if isinstance(event, events.VerdictReached):
            failing = len(event.verdict.failing)
            fewer = ghost.fewest is not None and failing < ghost.fewest
            fewest = failing if ghost.fewest is None else min(failing, ghost.fewest)
            ghost = replace(ghost, fewest=fewest, has_fewer_failing=ghost.has_fewer_failing or fewer, is_tried=True)
    return ghost


def _noting(
    ghost: Ghost, before: Loop, after: Loop, switched: set[tuple[str, str]], *, withdrawn: bool = False
) -> Ghost:
    was = {atom.id: atom.status for atom in before.atoms}
    resolved = any(
        atom.status == "resolved" and was.get(atom.id) != "resolved" and atom.repairs is None for atom in after.atoms
    )
    grown = _proposed(after) - _proposed(before)
    selected = {(name, group.selected) for name, group in after.or_groups.items()} | switched
    new = {(name, one) for name, one in selected - ghost.taken if name in before.or_groups}
    known = {(name, one) for name, one in ghost.taken if name in after.or_groups}
    return replace(
        ghost,
        has_resolved=ghost.has_resolved or resolved,
        has_grown=ghost.has_grown or (bool(grown) and not withdrawn),
        has_new_choice=ghost.has_new_choice or bool(new),
        taken=frozenset(known | selected),
    )


def _judge(ghost: Ghost, run: NotedRun) -> Ghost:
    ended, after = run.judged, run.loop
    assert ended is not None
    plain, stalls = Plain(ended), ended.control.stall_count
    ready = [one for one in plain.atoms if plain.is_ready(one)]
    unresolved = unresolved_of(ended)
    grew, withdraw = False, False
    if ghost.has_new_choice or ghost.has_fewer_failing or unresolved < ghost.fewest_unresolved:
        stalls = 0
    elif ghost.has_grown and (ghost.has_resolved or not ghost.grew_before):
        grew = not ghost.has_resolved
    elif not ghost.has_grown and _may_be_bad_luck(plain):
        pass
    else:
        stalls += 1
        withdraw = ghost.has_grown
    withdrawn = unresolved_of(after) - unresolved if withdraw else 0
    under_way = [one.id for one in ended.atoms if one.status == "in_progress" and one.id not in run.blocked_then]
    is_all_done = not any(one.status != "resolved" and plain.is_required(one.id) for one in ended.atoms)
    can_go_on = bool(ready or under_way or run.waiting) and not is_all_done
    return replace(
        ghost,
        fewest_unresolved=min(unresolved + withdrawn, ghost.fewest_unresolved + withdrawn),
        has_resolved=False,
        has_grown=False,
        grew_before=grew,
        has_new_choice=False,
        has_fewer_failing=False,
        outcomes=0,
        expected_stalls=stalls,
        ended_too_soon=ghost.outcomes < ghost.least and can_go_on,
        is_to_be_withdrawn=withdraw,
    )


def _may_be_bad_luck(plain: Plain) -> bool:
    """Something that can be worked at has not failed more often than bad luck explains."""
    return any(
        plain.failures(one) < patience_of(plain.loop) * len(plain.unit(one))
        for one in plain.unresolved()
        if not plain.parts(one) and all(map(plain.is_met, plain.atoms[one].depends_on))
    )


def _proposed(loop: Loop) -> set[str]:
    repairs = {atom.id for atom in loop.atoms if atom.repairs is not None}
    return {split.parent for split in loop.decompositions if not repairs & set(split.children)}
