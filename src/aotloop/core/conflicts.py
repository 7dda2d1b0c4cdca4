"""Which choice to go back to when something is exhausted: the latest one it rests on that has an alternative left.

The *conflict set* of an atom are the groups it rests on, through dependencies and decomposition. A choice that failed
itself has failed for good. One that was only *blamed* for what was built on it is remembered with the other groups it
was blamed together with; when one of those switches, it may be tried again. So no combination of choices is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aotloop.core.graph import Graph
from aotloop.core.model import Loop, OrGroup


def conflict_set(graph: Graph, atom_id: str) -> set[str]:
    """Names of the groups this atom rests on: its own, those of what it needs and of what it is a part of.

    A repair of the base case rests on all of them.
    """
    if graph.atoms[atom_id].repairs is not None and not graph.parents_of.get(atom_id):
        return {name for name, group in graph.or_groups.items() if group.selected in graph.required}
    found: set[str] = set()
    seen: set[str] = set()
    open_ids = [atom_id]
    while open_ids:
        current = open_ids.pop()
        if current in seen:
            continue
        seen.add(current)
        group = graph.group(current)
        if group is not None:
            found.add(graph.group_of[current])
            if current != atom_id:
                current = group.selected
        open_ids += graph.needs(current)
        open_ids += graph.parents_of_unit(current)
    return found


def group_order(graph: Graph, loop: Loop) -> dict[str, int]:
    """The fixed order of groups: whoever rests on others comes after them, else the order of the file."""
    rests_on = {name: _groups_below(graph, group) - {name} for name, group in loop.or_groups.items()}
    ranks: dict[str, int] = {}
    names = list(loop.or_groups)
    while len(ranks) < len(names):
        placed = [name for name in names if name not in ranks and rests_on[name] <= ranks.keys()]
        for name in placed or [next(name for name in names if name not in ranks)]:
            ranks[name] = len(ranks)
    return ranks


def _groups_below(graph: Graph, group: OrGroup) -> set[str]:
    """Groups that some choice of this one rests on: of what it depends on, and of what it is a part of.

    The parts of a choice rest on the choice, not the choice on them: what is inside is decided later.
    """
    found: set[str] = set()
    seen = set(group.choices)
    open_ids = [needed for choice in group.choices if choice in graph.atoms for needed in _outside(graph, choice)]
    while open_ids:
        current = open_ids.pop()
        for member in graph.unit(current):
            if member in seen:
                continue
            seen.add(member)
            if member in graph.group_of:
                found.add(graph.group_of[member])
            open_ids += graph.needs(member)
            open_ids += graph.parents_of_unit(member)
    return found


def _outside(graph: Graph, choice: str) -> Iterator[str]:
    yield from graph.atoms[choice].depends_on
    yield from graph.parents_of_unit(choice)


def untried(graph: Graph, group: OrGroup) -> list[str]:
    """Choices that could still be taken instead of the selected one."""
    return [
        choice
        for choice in group.choices
        if choice != group.selected
        and choice not in group.failed
        and choice not in group.blamed
        and choice in graph.atoms
    ]


def group_to_switch(loop: Loop, graph: Graph, conflict: Iterable[str]) -> tuple[str, set[str]] | None:
    """The latest group of the set with an untried choice, and the set it was found in.

    If the set has none left, it grows by the groups that its blamed choices were blamed together with: switching one of
    those makes them possible again.
    """
    order = group_order(graph, loop)
    names = set(conflict)
    while True:
        possible = [name for name in names if untried(graph, loop.or_groups[name])]
        if possible:
            return max(possible, key=lambda name: order[name]), names
        grown = names | {
            other
            for name in names
            for others in loop.or_groups[name].blamed.values()
            for other in others
            if other in loop.or_groups
        }
        if grown == names:
            return None
        names = grown


def later_than(loop: Loop, graph: Graph, name: str) -> Iterator[str]:
    order = group_order(graph, loop)
    return (other for other in sorted(order, key=lambda one: order[one]) if order[other] > order[name])
