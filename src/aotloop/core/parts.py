"""The atoms that a proposal to decompose stands for: their ids, what they depend on, which of them are alternatives."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from aotloop.core.board import Board
from aotloop.core.checklist import item_names
from aotloop.core.events import AtomDecomposed, Child
from aotloop.core.graph import Graph, highest_number
from aotloop.core.illegal import illegal
from aotloop.core.model import Atom, OrGroup


def parts_of(board: Board, event: AtomDecomposed, parent: Atom) -> tuple[list[Atom], dict[str, OrGroup]]:
    """Every part depends on what the parent depends on, besides what it names itself.

    What it says it covers, and the base case does not have, is left out: a proposal is not refused for a name.
    """
    fresh = free_ids(board, taken={child.atom for child in event.children if child.atom is not None})
    ids = [child.atom if child.atom is not None else next(fresh) for child in event.children]
    named = {child.name: one for one, child in zip(ids, event.children, strict=True) if child.name is not None}
    groups = _groups(board, parent, ids, event.children)
    items = set(item_names(board.loop.objective.base_case))
    group_of = {choice: name for name, group in groups.items() for choice in group.choices}
    atoms = [
        Atom(
            id=one,
            description=child.description,
            status="pending",
            depends_on=_needs(board, event, parent, child, named, ids),
            or_group=group_of.get(one),
            estimate=child.estimate,
            covers=tuple(item for item in child.covers if item in items),
            probe=child.probe,
        )
        for one, child in zip(ids, event.children, strict=True)
    ]
    return atoms, groups


def _needs(
    board: Board, event: AtomDecomposed, parent: Atom, child: Child, named: dict[str, str], ids: list[str]
) -> tuple[str, ...]:
    needed = [named.get(name, name) for name in child.depends_on]
    for one in needed:
        if one not in ids and one not in board.atoms:
            raise illegal(
                board.loop, event, f"{child.description!r} depends on {one}, which is neither a part nor an atom"
            )
    return tuple(dict.fromkeys((*parent.depends_on, *needed)))


def _groups(board: Board, parent: Atom, ids: list[str], children: tuple[Child, ...]) -> dict[str, OrGroup]:
    """A group for every label that two parts share, under a name that is free."""
    labelled: dict[str, list[str]] = {}
    for one, child in zip(ids, children, strict=True):
        if child.or_group is not None:
            labelled.setdefault(child.or_group, []).append(one)
    groups: dict[str, OrGroup] = {}
    for label, choices in labelled.items():
        if len(choices) > 1:
            name = f"{parent.id}_{label}"
            while name in board.loop.or_groups or name in groups:
                name += "_"
            groups[name] = OrGroup(choices=tuple(choices), selected=choices[0])
    return groups


def free_ids(graph: Graph, taken: Collection[str] = ()) -> Iterator[str]:
    """A<n>, counting on from the highest number in use (choices that are not atoms yet included)."""
    number = max(graph.highest_number, highest_number(taken))
    while True:
        number += 1
        yield f"A{number}"
