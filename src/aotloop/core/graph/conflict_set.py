"""The conflict set: which earlier choice to revise when an atom is exhausted.

An atom's failure can come from any choice that it rests on, through dependencies and decomposition. These choices are
its *conflict set*. If such choices are the only reason why the atom is needed, other choices can also avoid it. The
latest choice with an alternative left is revised.

A choice that is given up is stored together with the earlier groups that share the blame. When one of those groups
switches, the choice may be tried again. Without such a group it has failed for good. So no combination of choices is
lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import OrGroup


def conflict_set(graph: Graph, atom_id: str) -> set[str]:
    """Names of the groups this atom rests on: its own, and those of its dependencies and of its parents.

    The groups of sibling parts do not belong to it. A repair of the base case rests on all groups; a repair of a parent
    rests on all its parts.
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
    """Groups whose present choices are the only reason for this atom, each with untried choices that do not need it.

    Empty if the atom is needed in any case. The list of a group may be empty.
    """
    names: set[str] = set()
    seen: set[tuple[str, bool]] = set()
    open_ids = [(atom_id, False)]
    while open_ids:
        current, is_avoidable = open_ids.pop()
        if (current, is_avoidable) in seen:
            continue
        seen.add((current, is_avoidable))
        above = [consumer for consumer in graph.consumers.get(current, ()) if consumer in graph.required]
        name = graph.group_of.get(current)
        if name is not None and current != atom_id:
            names.add(name)
            is_avoidable = True
        elif not above and not is_avoidable:
            return {}
        open_ids += [(consumer, is_avoidable) for consumer in above]
    users = graph.downstream([atom_id]) if names else set()
    return {name: [choice for choice in untried(graph, graph.or_groups[name]) if choice not in users] for name in names}


def untried(graph: Graph, group: OrGroup) -> list[str]:
    """Choices that can still replace the selected one."""
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
    """The latest of these groups that has an untried choice, and all groups that share the blame.

    For a group in `ways`, only the choices listed there count. If a group has no choice left, the groups that its
    choices were given up together with share the blame too: a switch of one of those makes its choices possible again.
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
    return tuple(sorted((group for group in others if order[group] < order[name]), key=lambda group: order[group]))


def later_than(graph: Graph, name: str) -> list[str]:
    order = group_order(graph)
    return [other for other in sorted(order, key=lambda group: order[group]) if order[other] > order[name]]


Moment = tuple[tuple[str, str], bool]
"""A unit, and whether this moment is its end."""


def group_order(graph: Graph) -> dict[str, int]:
    """The order is stored with the graph, because only growth changes it."""
    kept: dict[str, int] | None = graph.__dict__.get("group_order")
    if kept is None:
        kept = graph.__dict__["group_order"] = _order(graph)
    return kept


def _order(graph: Graph) -> dict[str, int]:
    position = {name: number for number, name in enumerate(graph.or_groups)}
    try:
        levels = _levels(_what_comes_before(graph, inside=True))
    except CycleError:  # an alternative needs an atom inside a choice, so that atom is not only inside
        try:
            levels = _levels(_what_comes_before(graph, inside=False))
        except CycleError:  # the loop is not valid
            return position
    names = sorted(position, key=lambda name: (levels.get((("group", name), False), 0), position[name]))
    return {name: number for number, name in enumerate(names)}


def _levels(earlier: dict[Moment, list[Moment]]) -> dict[Moment, int]:
    """For each moment, how many groups must begin before it, one after the other."""
    level: dict[Moment, int] = {}
    for moment in TopologicalSorter(earlier).static_order():
        (kind, _), is_end = moment
        below = max((level[before] for before in earlier.get(moment, ())), default=0)
        level[moment] = below + (kind == "group" and not is_end)
    return level


def _what_comes_before(graph: Graph, *, inside: bool) -> dict[Moment, list[Moment]]:
    earlier: dict[Moment, list[Moment]] = {}
    for atom_id, atom in graph.atoms.items():
        unit = graph.unit_name(atom_id)
        begins, ends = earlier.setdefault((unit, False), []), earlier.setdefault((unit, True), [(unit, False)])
        begins += [(graph.unit_name(needed), True) for needed in atom.depends_on]
        begins += [(graph.unit_name(parent), False) for parent in graph.parents_of_unit(atom_id)] if inside else []
        ends += [(graph.unit_name(part), True) for part in graph.children_of.get(atom_id, ())]
    return earlier
