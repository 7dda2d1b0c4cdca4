"""The fixed order of groups: whoever rests on others comes after them; else, the order of the file.

A group rests on the groups of what its choices depend on, with all that is inside of those; and on the choice it is
inside of. So every unit (an atom, or a group) has a beginning and an end: it begins when what it depends on has ended
and what it is a part of has begun, and it ends when its parts have ended. The order of beginnings is the order wanted.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from aotloop.core.graph import Graph

Moment = tuple[tuple[str, str], bool]
"""A unit, and whether it is its end."""


def group_order(graph: Graph) -> dict[str, int]:
    """Kept with the graph: only growth changes it."""
    kept: dict[str, int] | None = graph.__dict__.get("group_order")
    if kept is None:
        kept = graph.__dict__["group_order"] = _order(graph)
    return kept


def _order(graph: Graph) -> dict[str, int]:
    position = {name: number for number, name in enumerate(graph.or_groups)}
    try:
        levels = _levels(_what_comes_before(graph, inside=True))
    except CycleError:  # what is inside one choice is needed by an alternative to it: then it is not only inside
        try:
            levels = _levels(_what_comes_before(graph, inside=False))
        except CycleError:  # no valid loop
            return position
    names = sorted(position, key=lambda name: (levels.get((("group", name), False), 0), position[name]))
    return {name: number for number, name in enumerate(names)}


def _levels(earlier: dict[Moment, list[Moment]]) -> dict[Moment, int]:
    """How many groups begin before, one after the other."""
    level: dict[Moment, int] = {}
    for moment in TopologicalSorter(earlier).static_order():
        (kind, _), is_end = moment
        below = max((level[one] for one in earlier.get(moment, ())), default=0)
        level[moment] = below + (kind == "group" and not is_end)
    return level


def _what_comes_before(graph: Graph, *, inside: bool) -> dict[Moment, list[Moment]]:
    earlier: dict[Moment, list[Moment]] = {}
    for atom_id, atom in graph.atoms.items():
        unit = graph.unit_name(atom_id)
        begins, ends = earlier.setdefault((unit, False), []), earlier.setdefault((unit, True), [(unit, False)])
        begins += [(graph.unit_name(needed), True) for needed in atom.depends_on]
        begins += [(graph.unit_name(one), False) for one in graph.parents_of_unit(atom_id)] if inside else []
        ends += [(graph.unit_name(part), True) for part in graph.children_of.get(atom_id, ())]
    return earlier
