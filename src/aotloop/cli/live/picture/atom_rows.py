"""Puts the atoms in rows, in order of dependencies: choices below their group, parts below the split atom.

The rows depend only on the structure, not on progress, so they are made again only when atoms are added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from aotloop.app.diagram.layers import Arc, ranks
from aotloop.core.graph.work_graph import Graph


class Row(msgspec.Struct, frozen=True, gc=False):
    """An atom, or the heading of a group."""

    name: str
    depth: int
    above: int
    """The number of the row above it; -1: none."""
    is_group: bool = False


def outline(graph: Graph) -> list[Row]:
    units = _Units(graph)
    rows: list[Row] = []
    # Our own stack: a hostile file may nest deeper than Python's call stack.
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
    """The choices of a group form one unit. A unit with several parents is below the first of them."""

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
        if group is not None:  # a choice of two groups is in the one the graph assigns
            choices = dict.fromkeys(self._graph.or_groups[group].choices)
            members = tuple(choice for choice in choices if self._graph.group_of[choice] == group)
        self._number.update(dict.fromkeys(members, len(self.members)))
        self.members.append(members)
        self.groups.append(group)

    def _nest(self) -> None:
        for parent, children in self._graph.children_of.items():
            above = self._number.get(parent)
            for child in children if above is not None else ():
                number = self._number.get(child)
                # A unit that is its own top has no parent yet; one below ours would end up below itself.
                if above is not None and number is not None and self._find(number) == number != self._find(above):
                    self._top[number] = self._find(above)
                    self.under.setdefault(parent, []).append(number)
        if self.under:
            rank = ranks(len(self.members), self._arcs(contracted=False))
            for parts in self.under.values():
                parts.sort(key=lambda number: (rank[number], number))

    def _find(self, number: int) -> int:
        """The top unit above this one; the path is shortened for later calls."""
        top = number
        while self._top[top] != top:
            top = self._top[top]
        while self._top[number] != top:
            self._top[number], number = top, self._top[number]
        return top

    def _arcs(self, *, contracted: bool) -> set[Arc]:
        """Contracted: parts count for the unit above them. This may create cycles, which only affect the order."""
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


MOST_ABOVE = 4
"""Rows that are shown only because another row is below them: the inner rows are worth more."""

MOST_REFUSALS = 20
"""Refused rows in sequence. After that the room is full, or nearly."""


def kept(rows: list[Row], interesting: Iterable[int], room: int, heights: Mapping[int, int]) -> list[int]:
    """Numbers of the visible rows, in order. `heights`: of rows with more than one line."""
    shown: set[int] = set()
    refusals = 0
    for number in interesting:
        fresh = _with_what_is_above(rows, number, shown)
        lines = sum(heights.get(row, 1) for row in fresh)
        if lines <= room:
            shown.update(fresh)
            room -= lines
            refusals = 0
        else:
            refusals += 1
        if not room or refusals >= MOST_REFUSALS:
            break
    return sorted(shown)


def _with_what_is_above(rows: list[Row], number: int, shown: set[int]) -> list[int]:
    chain: list[int] = []
    while number >= 0 and number not in shown and len(chain) <= MOST_ABOVE:
        chain.append(number)
        number = rows[number].above
    return chain
