"""What a failure uses up: an attempt or, when those are spent, an alternative. What was built on it is reset."""

from __future__ import annotations

from msgspec.structs import replace

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
    group = graph.group(event.atom)
    return [Exhausted(atom=event.atom)] if group is None else _next_choice(loop, graph, group, event)


def _next_choice(loop: Loop, graph: Graph, group: OrGroup, event: AtomFailed) -> list[Effect]:
    name = graph.group_of[event.atom]
    untried = [
        choice
        for choice in group.choices
        if choice != event.atom and choice not in group.failed and choice in graph.atoms
    ]
    if untried and group.selected == event.atom:
        reason = f"{event.atom} failed: {event.reason}"
        return _leave(loop, graph, BranchSwitched(or_group=name, choice=untried[0], reason=reason, at=event.at))
    loop.or_groups[name] = replace(group, failed=_with(group.failed, event.atom))
    return [] if untried else [Exhausted(atom=event.atom)]


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
    if event.choice in group.failed:
        raise illegal(loop, event, f"{event.choice} has failed; a correction can force it", event.choice)
    return _leave(loop, graph, event)


def _leave(loop: Loop, graph: Graph, event: BranchSwitched) -> list[Effect]:
    """The trail entry comes first, then the switch, then the reset of the left choice and what was built on it."""
    group = loop.or_groups[event.or_group]
    left = group.selected
    loop.trail.append(
        TrailEntry(or_group=event.or_group, selected=event.choice, reason=event.reason, timestamp=event.at)
    )
    loop.or_groups[event.or_group] = replace(group, selected=event.choice, failed=_with(group.failed, left))
    parts = {left} | graph.descendants(left)
    built_on = graph.downstream(parts)
    reset = [atom.id for atom in loop.atoms if atom.id in parts or atom.id in built_on]
    changed = []
    for atom_id in reset:
        place = graph.position[atom_id]
        atom = loop.atoms[place]
        if atom.status != "pending" or atom.attempts or atom_id in loop.bindings:
            changed.append(atom_id)
        loop.atoms[place] = replace(atom, status="pending", attempts=0)
        loop.bindings.pop(atom_id, None)
    return [Backtracked(or_group=event.or_group, left=left, selected=event.choice, reset=tuple(changed))]


def _with(failed: tuple[str, ...], choice: str) -> tuple[str, ...]:
    return failed if choice in failed else (*failed, choice)
