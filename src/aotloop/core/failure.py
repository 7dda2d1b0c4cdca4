"""What a failure uses up: an attempt or, when those are spent, an alternative. What was built on it is reset."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.conflicts import conflict_set, group_to_switch, later_than, untried
from aotloop.core.effects import Backtracked, Effect, Exhausted, Retry
from aotloop.core.events import AtomFailed, BranchSwitched
from aotloop.core.graph import Graph
from aotloop.core.illegal import illegal
from aotloop.core.model import Loop, OrGroup, TrailEntry


def fail(loop: Loop, graph: Graph, event: AtomFailed) -> list[Effect]:
    """Recorded in the trail with its reason; the result is deleted; then the first rung of the ladder that is left."""
    place = graph.position[event.atom]
    attempts = loop.atoms[place].attempts + 1
    loop.trail.append(
        TrailEntry(
            or_group=graph.group_of.get(event.atom),
            selected=None,
            reason=event.reason,
            timestamp=event.at,
            type="failure",
            atom=event.atom,
            attempt=attempts,
        )
    )
    loop.bindings.pop(event.atom, None)
    loop.atoms[place] = replace(loop.atoms[place], status="pending", attempts=attempts)
    allowed = loop.objective.constraints.max_attempts
    if attempts < allowed:
        return [Retry(atom=event.atom, attempts=attempts, allowed=allowed)]
    return _go_back(loop, graph, event)


def _go_back(loop: Loop, graph: Graph, event: AtomFailed) -> list[Effect]:
    """The attempts are spent: another choice, of the latest group that this rests on and that has one left."""
    own = graph.group(event.atom)
    if own is not None and own.selected != event.atom:
        return _leave_race(loop, graph, own, event)
    found = group_to_switch(loop, graph, conflict_set(graph, event.atom))
    if found is None:
        if own is not None:
            loop.or_groups[graph.group_of[event.atom]] = replace(own, failed=_with(own.failed, event.atom))
        return [Exhausted(atom=event.atom)]
    name, conflict = found
    choice = untried(graph, loop.or_groups[name])[0]
    reason = f"{event.atom} failed: {event.reason}"
    switched = BranchSwitched(or_group=name, choice=choice, reason=reason, at=event.at)
    if own is not None and graph.group_of[event.atom] != name:
        loop.or_groups[graph.group_of[event.atom]] = replace(own, failed=_with(own.failed, event.atom))
    return _leave(loop, graph, switched, failed=event.atom, conflict=conflict)


def _leave_race(loop: Loop, graph: Graph, group: OrGroup, event: AtomFailed) -> list[Effect]:
    """A racer that was not the selected one: one less; the others run on."""
    group = replace(group, failed=_with(group.failed, event.atom))
    loop.or_groups[graph.group_of[event.atom]] = group
    exhausted = group.selected in group.failed and not untried(graph, group)
    return [Exhausted(atom=event.atom)] if exhausted else []


def switch(loop: Loop, graph: Graph, event: BranchSwitched) -> list[Effect]:
    group = loop.or_groups.get(event.or_group)
    if group is None:
        known = ", ".join(loop.or_groups) or "none"
        raise illegal(None, event, f"there is no group {event.or_group}; there are: {known}")
    if event.choice not in group.choices:
        raise illegal(None, event, f"{event.choice} is no choice of {event.or_group}: {', '.join(group.choices)}")
    if event.choice not in graph.atoms:
        raise illegal(None, event, f"{event.choice} is not an atom yet; add it first")
    if event.choice == group.selected:
        raise illegal(None, event, f"{event.choice} is selected already")
    if event.choice in group.failed or event.choice in group.blamed:
        raise illegal(loop, event, f"{event.choice} has failed; a correction can force it", event.choice)
    return _leave(loop, graph, event, failed=group.selected, conflict=set())


def _leave(loop: Loop, graph: Graph, event: BranchSwitched, *, failed: str, conflict: set[str]) -> list[Effect]:
    """The trail entry comes first, then the switch, then the reset of the left choice and what was built on it.

    The choice that is left has failed if what failed is it or a part of it; else it is only blamed.
    """
    group = loop.or_groups[event.or_group]
    left = group.selected
    parts = {left} | graph.descendants(left)
    loop.trail.append(
        TrailEntry(or_group=event.or_group, selected=event.choice, reason=event.reason, timestamp=event.at)
    )
    if failed in parts:
        group = replace(group, selected=event.choice, failed=_with(group.failed, left))
    else:
        others = tuple(sorted(conflict - {event.or_group}))
        group = replace(group, selected=event.choice, blamed={**group.blamed, left: others})
    loop.or_groups[event.or_group] = group
    reset = _reset(loop, graph, parts | graph.downstream(parts))
    _free_blamed(loop, graph, event)
    return [Backtracked(or_group=event.or_group, left=left, selected=event.choice, reset=reset)]


def _reset(loop: Loop, graph: Graph, atom_ids: set[str]) -> tuple[str, ...]:
    changed = []
    for atom_id in sorted((one for one in atom_ids if one in graph.position), key=lambda one: graph.position[one]):
        place = graph.position[atom_id]
        atom = loop.atoms[place]
        if atom.status != "pending" or atom.attempts or atom_id in loop.bindings:
            changed.append(atom_id)
        loop.atoms[place] = replace(atom, status="pending", attempts=0)
        loop.bindings.pop(atom_id, None)
    return tuple(changed)


def _free_blamed(loop: Loop, graph: Graph, event: BranchSwitched) -> None:
    """What was blamed together with the choice just left may go together with its successor."""
    for name in later_than(loop, graph, event.or_group):
        group = loop.or_groups[name]
        kept = {choice: others for choice, others in group.blamed.items() if event.or_group not in others}
        if len(kept) == len(group.blamed):
            continue
        group = replace(group, blamed=kept)
        if group.selected in group.failed and (free := untried(graph, group)):
            loop.trail.append(TrailEntry(or_group=name, selected=free[0], reason="possible again", timestamp=event.at))
            group = replace(group, selected=free[0])
        loop.or_groups[name] = group


def _with(failed: tuple[str, ...], choice: str) -> tuple[str, ...]:
    return failed if choice in failed else (*failed, choice)
