"""The atoms in rows, in the order of their dependencies: choices under their group, parts under what was split.

It depends on the structure alone, not on how far the work is, so it is made again only when atoms come or go.
"""

from __future__ import annotations

import msgspec

from aotloop.cli.drawing.units import Arc, ranks
from aotloop.core.graph import Graph


class Row(msgspec.Struct, frozen=True, gc=False):
    """An atom, or the heading of a group."""

    name: str
    depth: int
    above: int
    """The row it stands under, by its number; -1: none."""
    is_group: bool = False


def outline(graph: Graph) -> list[Row]:
    units = _Units(graph)
    rows: list[Row] = []
    # Our own stack: a hostile file may nest deeper than Python calls may.
    stack: list[tuple[int | str, int, int]] = [(number, 0, -1) for number in reversed(units.roots)]
    while stack:
        thing, depth, above = stack.pop()
        here = len(rows)
        if isinstance(thing, int):
            group = units.groups[thing]
            if group is not None:
                rows.append(Row(group, depth, above, is_group=True))
                stack += [(member, depth + 1, here) for member in reversed(units.members[thing])]
                continue
            thing = units.members[thing][0]
        rows.append(Row(thing, depth, above))
        stack += [(child, depth + 1, here) for child in reversed(units.under.get(thing, ()))]
    return rows


class _Units:
    """The choices of a group are one unit. A unit with several parents stands under the first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.members: list[tuple[str, ...]] = []
        self.groups: list[str | None] = []
        self._number: dict[str, int] = {}
        for atom_id in graph.atoms:
            if atom_id not in self._number:
                self._add(atom_id)
        self._top = list(range(len(self.members)))
        self.under: dict[str, list[int]] = {}
        self._nest()
        rank = ranks(len(self.members), self._arcs(contracted=True))
        roots = [number for number, top in enumerate(self._top) if number == top]
        self.roots = sorted(roots, key=lambda number: (rank[number], number))

    def _add(self, atom_id: str) -> None:
        group = self._graph.group_of.get(atom_id)
        members: tuple[str, ...] = (atom_id,)
        if group is not None:  # a choice that is listed by two groups stands in the one the graph counts it to
            choices = dict.fromkeys(self._graph.or_groups[group].choices)
            members = tuple(one for one in choices if self._graph.group_of[one] == group)
        self._number.update(dict.fromkeys(members, len(self.members)))
        self.members.append(members)
        self.groups.append(group)

    def _nest(self) -> None:
        for parent, children in self._graph.children_of.items():
            above = self._number.get(parent)
            for child in children if above is not None else ():
                number = self._number.get(child)
                # A unit that is its own top has no parent yet; one that is also ours would stand under itself.
                if above is not None and number is not None and self._find(number) == number != self._find(above):
                    self._top[number] = self._find(above)
                    self.under.setdefault(parent, []).append(number)
        if self.under:
            rank = ranks(len(self.members), self._arcs(contracted=False))
            for parts in self.under.values():
                parts.sort(key=lambda number: (rank[number], number))

    def _find(self, number: int) -> int:
        """The unit at the top of this one; the way there is shortened for whoever asks next."""
        top = number
        while self._top[top] != top:
            top = self._top[top]
        while self._top[number] != top:
            self._top[number], number = top, self._top[number]
        return top

    def _arcs(self, *, contracted: bool) -> set[Arc]:
        """Contracted: parts count for the unit they stand under. Cycles may come of it; they only cost some order."""
        arcs: set[Arc] = set()
        for atom_id, atom in self._graph.atoms.items():
            target = self._number[atom_id]
            target = self._find(target) if contracted else target
            for needed in atom.depends_on:
                source = self._number.get(needed)
                if source is not None:
                    source = self._find(source) if contracted else source
                    if source != target:
                        arcs.add((source, target))
        return arcs
