"""Which choice to go back to when something is exhausted: the latest one it rests on that has an alternative left.

The failure of an atom is owed to the choices it rests on, through dependencies and decomposition: its *conflict set*.
Where they are the only reason why it is needed, it can also be avoided by other choices of those who need it.

A choice that is given up is remembered together with the earlier groups that share in the blame; when one of those
switches, it may be tried again. With no such group it has failed for good. So no combination of choices is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aotloop.core.graph import Graph
from aotloop.core.group_order import group_order
from aotloop.core.model import OrGroup


def conflict_set(graph: Graph, atom_id: str) -> set[str]:
    """Names of the groups this atom rests on: its own, those of what it needs and of what it is a part of.

    Not those of other parts of the same whole. A repair of the base case rests on all groups, that of a whole on all
    its parts.
    """
    if graph.atoms[atom_id].repairs is not None and not graph.parents_of.get(atom_id):
        return {name for name, group in graph.or_groups.items() if group.selected in graph.required}
    found: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    open_ids = [(atom_id, True)]
    if graph.atoms[atom_id].repairs is not None:
        open_ids = [(parent, True) for parent in graph.parents_of[atom_id]]
    while open_ids:
        current, has_parts_below = open_ids.pop()
        group = graph.group(current)
        if group is not None:
            found.add(graph.group_of[current])
            current = current if current == atom_id else group.selected
        if (current, has_parts_below) in seen or current not in graph.atoms:
            continue
        seen.add((current, has_parts_below))
        open_ids += [(needed, True) for needed in graph.atoms[current].depends_on]
        open_ids += [(parent, False) for parent in graph.parents_of_unit(current)]
        if has_parts_below:
            open_ids += [(part, True) for part in graph.children_of.get(current, ())]
    return found


def ways_around(graph: Graph, atom_id: str) -> dict[str, list[str]]:
    """Groups without whose present choices nothing would need this atom, each with untried choices that do not need it.

    Empty if something needs it in any case; a group may have no such choice left, or none that was not given up.
    """
    names: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    open_ids = [(atom_id, False)]
    while open_ids:
        current, is_avoidable = open_ids.pop()
        if (current, is_avoidable) in seen:
            continue
        seen.add((current, is_avoidable))
        above = [one for one in graph.consumers.get(current, ()) if one in graph.required]
        name = graph.group_of.get(current)
        if name is not None and current != atom_id:
            names.add(name)
            is_avoidable = True
        elif not above and not is_avoidable:
            return {}
        open_ids += [(one, is_avoidable) for one in above]
    users = graph.downstream([atom_id]) if names else set()
    return {name: [one for one in untried(graph, graph.or_groups[name]) if one not in users] for name in names}


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


def group_to_switch(
    graph: Graph, names: Iterable[str], ways: Mapping[str, list[str]] = MappingProxyType({})
) -> tuple[str, set[str]] | None:
    """The latest of these groups with an untried choice (of those in `ways`: one of these), and all that are to blame.

    If one of them has no choice left, the groups that its choices were given up together with are to blame too:
    switching one of those makes them possible again.
    """

    def choices(name: str) -> list[str]:
        return ways[name] if name in ways else untried(graph, graph.or_groups[name])

    blamed = set(names)
    open_names = list(blamed)
    while open_names:
        name = open_names.pop()
        if not choices(name):
            given_up = graph.or_groups[name].blamed.values()
            shared = {other for others in given_up for other in others if other in graph.or_groups}
            open_names += shared - blamed
            blamed |= shared
    order = group_order(graph)
    possible = [name for name in blamed if choices(name)]
    return (max(possible, key=lambda name: order[name]), blamed) if possible else None


def earlier_than(graph: Graph, name: str, others: Iterable[str]) -> tuple[str, ...]:
    order = group_order(graph)
    return tuple(sorted((one for one in others if order[one] < order[name]), key=lambda one: order[one]))


def later_than(graph: Graph, name: str) -> list[str]:
    order = group_order(graph)
    return [other for other in sorted(order, key=lambda one: order[one]) if order[other] > order[name]]
