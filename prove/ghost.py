"""What a watcher remembers of a generation, to judge for himself whether anything got smaller."""

from __future__ import annotations

import msgspec

from aotloop.core import events
from aotloop.core.conduct import reports
from aotloop.core.model import Loop
from prove.oracle import Plain
from prove.world import NotedRun


class Ghost(msgspec.Struct, frozen=True):
    unresolved: int = -1
    """When the last generation ended; -1: none has."""
    has_resolved: bool = False
    has_grown: bool = False
    grew_before: bool = False
    has_less_to_try: bool = False
    fewest: int | None = None
    has_fewer_failing: bool = False
    expected_stalls: int | None = None
    is_tried: bool = False
    """The base case was tried after the last thing that changed anything."""
    members: frozenset[int] = frozenset()
    """The attempts that were under way when the generation began and have not been reported."""
    hopeless: frozenset[str] = frozenset()
    """Commands that failed, and nothing has been merged since they began."""
    ended_early: bool = False
    is_to_be_withdrawn: bool = False


def watch(ghost: Ghost, run: NotedRun, before: Loop, report: reports.Report) -> Ghost:
    """After a step. What happened until the generation ended belongs to it, the rest to the next one."""
    is_tried = ghost.is_tried and not isinstance(report, reports.Merged | reports.Reverted)
    ghost = msgspec.structs.replace(
        ghost, expected_stalls=None, is_tried=is_tried, ended_early=False, is_to_be_withdrawn=False
    )
    ghost = _commands(_membership(ghost, run), run, report)
    if any(isinstance(event, events.Corrected) for event in run.noted):
        taken_up = any(isinstance(event, events.AlternativeSought) for event in run.noted)
        less = taken_up and _has_less_to_try(before, run.loop)
        return Ghost(unresolved=ghost.unresolved, fewest=ghost.fewest, members=ghost.members, has_less_to_try=less)
    ghost = _verdicts(ghost, run)
    if run.judged is None:
        return _noting(ghost, before, run.loop)
    ghost = _judge(_noting(ghost, before, run.judged), run.judged, run.loop)
    return _noting(ghost, run.judged, run.loop, withdrawn=True)


def _membership(ghost: Ghost, run: NotedRun) -> Ghost:
    members = ghost.members & set(run.attempts)
    for event in run.noted:
        if isinstance(event, events.GenerationEnded):
            ghost = msgspec.structs.replace(ghost, ended_early=bool(members))
        if isinstance(event, events.GenerationBegan):
            members = frozenset(run.attempts)
    return msgspec.structs.replace(ghost, members=members)


def _commands(ghost: Ghost, run: NotedRun, report: reports.Report) -> Ghost:
    if isinstance(report, reports.Merged | reports.Reverted):
        return msgspec.structs.replace(ghost, hopeless=frozenset())
    failed = {
        event.atom
        for event in run.noted
        if isinstance(event, events.AtomFailed) and event.atom in run.board.atoms and run.board.atoms[event.atom].run
    }
    if isinstance(report, reports.WorkFailed) and failed and run.last_began == run.merges:
        ghost = msgspec.structs.replace(ghost, hopeless=ghost.hopeless | failed)
    return ghost


def _verdicts(ghost: Ghost, run: NotedRun) -> Ghost:
    for event in run.noted:
        if isinstance(event, events.VerdictReached):
            failing = len(event.verdict.failing)
            fewer = ghost.fewest is not None and failing < ghost.fewest
            fewest = failing if ghost.fewest is None else min(failing, ghost.fewest)
            ghost = msgspec.structs.replace(
                ghost, fewest=fewest, has_fewer_failing=ghost.has_fewer_failing or fewer, is_tried=True
            )
    return ghost


def _noting(ghost: Ghost, before: Loop, after: Loop, *, withdrawn: bool = False) -> Ghost:
    was = {atom.id: atom.status for atom in before.atoms}
    resolved = any(
        atom.status == "resolved" and was.get(atom.id) != "resolved" and atom.repairs is None for atom in after.atoms
    )
    grown = _proposed(after) - _proposed(before)
    return msgspec.structs.replace(
        ghost,
        has_resolved=ghost.has_resolved or resolved,
        has_grown=ghost.has_grown or (bool(grown) and not withdrawn),
        has_less_to_try=ghost.has_less_to_try or _has_less_to_try(before, after),
    )


def _judge(ghost: Ghost, ended: Loop, after: Loop) -> Ghost:
    stalls = ended.control.stall_count
    smaller = ghost.has_less_to_try or ghost.has_fewer_failing
    if not smaller and ghost.unresolved >= 0:
        smaller = _unresolved(ended) < ghost.unresolved
    elif not smaller:
        smaller = ghost.has_resolved and not ghost.has_grown
    grew, withdraw = False, False
    if smaller:
        stalls = 0
    elif ghost.has_grown and (ghost.has_resolved or not ghost.grew_before):
        grew = not ghost.has_resolved
    else:
        stalls += 1
        withdraw = ghost.has_grown
    return Ghost(
        unresolved=_unresolved(after),
        grew_before=grew,
        fewest=ghost.fewest,
        expected_stalls=stalls,
        is_tried=ghost.is_tried,
        members=ghost.members,
        hopeless=ghost.hopeless,
        ended_early=ghost.ended_early,
        is_to_be_withdrawn=withdraw,
    )


def _unresolved(loop: Loop) -> int:
    plain = Plain(loop)
    return sum(plain.atoms[one].repairs is None for one in plain.unresolved())


def _proposed(loop: Loop) -> set[str]:
    repairs = {atom.id for atom in loop.atoms if atom.repairs is not None}
    return {split.parent for split in loop.decompositions if not repairs & set(split.children)}


def _has_less_to_try(before: Loop, after: Loop) -> bool:
    """A choice was given up, and so one that had not been tried is no longer there to be tried later."""
    given_up = _given_up(after) - _given_up(before)
    return bool(given_up and _untried(before) - _untried(after))


def _given_up(loop: Loop) -> set[tuple[str, str]]:
    return {(name, one) for name, group in loop.or_groups.items() for one in (*group.failed, *group.blamed)}


def _untried(loop: Loop) -> set[tuple[str, str]]:
    return {(name, one) for name in loop.or_groups for one in Plain(loop).untried(name)}
