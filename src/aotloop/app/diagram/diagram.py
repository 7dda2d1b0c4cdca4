"""Decides once for all formats what a picture of a loop contains; it knows nothing about drawing.

Any loop can be drawn, valid or not. A name that is only mentioned (a choice or a dependency that is not an atom)
becomes a ghost card. All texts are printable, so no format has to handle control characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.text.sanitize import prose, visible

Look = Literal["resolved", "in_progress", "ready", "waiting", "decomposed", "failed", "unselected"]
EdgeKind = Literal["and", "decomposed"]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """An atom, or a ghost: a name that is mentioned but is not an atom."""

    id: str
    label: str
    description: str
    look: Look
    ghost: bool = False
    count: int = 1
    """The number of atoms that it stands for."""


class Edge(msgspec.Struct, frozen=True):
    """`and`: the target depends on the source. `decomposed`: the source was split, the target is a part."""

    source: str
    target: str
    kind: EdgeKind


class Group(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    members: tuple[str, ...]
    selected: str
    speculative: bool


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """Cards in file order, then ghosts. Every card is in at most one group; no group is empty."""

    title: str
    cards: tuple[Card, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...]


def picture_of(loop: Loop) -> Picture:
    graph = Graph(loop)
    edges = tuple(dict.fromkeys(_edges(graph)))
    groups = tuple(_groups(loop, graph))
    looks = _Looks(graph)
    cards = {atom_id: _card(atom, looks.of(atom_id)) for atom_id, atom in graph.atoms.items()}
    for group in groups:
        for member in group.members:
            cards.setdefault(member, _ghost(member, looks.of(member), "not an atom yet"))
    for edge in edges:
        for end in (edge.source, edge.target):
            cards.setdefault(end, _ghost(end, "waiting", "no such atom"))
    return Picture(
        title=prose(loop.objective.goal, keep_joiners=False), cards=tuple(cards.values()), edges=edges, groups=groups
    )


def looks_of(graph: Graph) -> dict[str, Look]:
    """Of every atom, without the rest of the picture."""
    looks = _Looks(graph)
    return {atom_id: looks.of(atom_id) for atom_id in graph.atoms}


def _edges(graph: Graph) -> Iterator[Edge]:
    for atom in graph.atoms.values():
        for needed in atom.depends_on:
            yield Edge(needed, atom.id, "and")
    for parent, children in graph.children_of.items():
        for child in children:
            yield Edge(parent, child, "decomposed")


def _groups(loop: Loop, graph: Graph) -> Iterator[Group]:
    for name, group in loop.or_groups.items():
        # A choice listed by two groups is drawn in the group that the graph assigns it to.
        members = [choice for choice in dict.fromkeys(group.choices) if graph.group_of[choice] == name]
        if members:
            yield Group(
                label=visible(name),
                members=tuple(members),
                selected=group.selected,
                speculative=group.speculative,
            )


def _card(atom: Atom, look: Look) -> Card:
    return Card(id=atom.id, label=visible(atom.id), description=prose(atom.description, keep_joiners=False), look=look)


def _ghost(atom_id: str, look: Look, why: str) -> Card:
    return Card(id=atom_id, label=visible(atom_id), description=f"({why})", look=look, ghost=True)


class _Looks:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        # On a cycle nothing counts as required, although no choice excluded it: so no card is drawn as off.
        self._off_path = set() if graph.has_cycle else graph.atoms.keys() - graph.required

    def of(self, atom_id: str) -> Look:
        group = self._graph.group(atom_id)
        if group is not None and atom_id in group.failed:
            return "failed"
        atom = self._graph.atoms.get(atom_id)
        if atom is not None and atom.status != "pending":
            return atom.status
        if atom is not None and self._graph.why_not_ready(atom_id) is None:
            return "ready"
        if self._graph.is_unselected(atom_id) or atom_id in self._off_path:
            return "unselected"
        return "decomposed" if atom_id in self._graph.children_of else "waiting"
