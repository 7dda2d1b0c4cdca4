"""Decomposition: the atoms that a proposal describes, with their ids, dependencies and alternatives."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from aotloop.core.checks.checklist import item_names
from aotloop.core.events import AtomDecomposed, Child
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph, highest_number
from aotloop.core.model import Atom, OrGroup
from aotloop.core.transitions import illegal


def parts_of(board: Board, event: AtomDecomposed, parent: Atom) -> tuple[list[Atom], dict[str, OrGroup]]:
    """The parts of a parent. Every part also depends on the parent's dependencies.

    Names in `covers` that the base case does not have are left out: a proposal is not refused because of a name.
    """
    fresh = free_ids(board, taken={child.atom for child in event.children if child.atom is not None})
    ids = [child.atom if child.atom is not None else next(fresh) for child in event.children]
    named = {child.name: part_id for part_id, child in zip(ids, event.children, strict=True) if child.name is not None}
    groups = _groups(board, parent, ids, event.children)
    items = set(item_names(board.loop.objective.base_case))
    group_of = {choice: name for name, group in groups.items() for choice in group.choices}
    atoms = [
        Atom(
            id=part_id,
            description=child.description,
            status="pending",
            depends_on=_needs(board, event, parent, child, named, ids),
            or_group=group_of.get(part_id),
            estimate=child.estimate,
            covers=tuple(item for item in child.covers if item in items),
            probe=child.probe,
        )
        for part_id, child in zip(ids, event.children, strict=True)
    ]
    return atoms, groups


def _needs(
    board: Board, event: AtomDecomposed, parent: Atom, child: Child, named: dict[str, str], ids: list[str]
) -> tuple[str, ...]:
    needed = [named.get(name, name) for name in child.depends_on]
    for dependency in needed:
        if dependency not in ids and dependency not in board.atoms:
            raise illegal(
                board.loop, event, f"{child.description!r} depends on {dependency}, which is neither a part nor an atom"
            )
    return tuple(dict.fromkeys((*parent.depends_on, *needed)))


def _groups(board: Board, parent: Atom, ids: list[str], children: tuple[Child, ...]) -> dict[str, OrGroup]:
    """A group for every label that at least two parts share, with a free name."""
    labelled: dict[str, list[str]] = {}
    for part_id, child in zip(ids, children, strict=True):
        if child.or_group is not None:
            labelled.setdefault(child.or_group, []).append(part_id)
    groups: dict[str, OrGroup] = {}
    for label, choices in labelled.items():
        if len(choices) > 1:
            name = f"{parent.id}_{label}"
            while name in board.loop.or_groups or name in groups:
                name += "_"
            groups[name] = OrGroup(choices=tuple(choices), selected=choices[0])
    return groups


def free_ids(graph: Graph, taken: Collection[str] = ()) -> Iterator[str]:
    """New ids A<n>, counted from the highest number in use, including choices that are not atoms yet."""
    number = max(graph.highest_number, highest_number(taken))
    while True:
        number += 1
        yield f"A{number}"


def take_out(board: Board, gone: set[str], *, instead: dict[str, str] | None = None) -> None:
    """Removes atoms from every list that names them. Their dependents now depend on the atom in `instead`, if any."""
    if not gone:
        return
    loop, stand_ins = board.loop, instead or {}
    loop.atoms[:] = [
        replace(atom, depends_on=_without(atom.depends_on, gone, stand_ins)) if gone & set(atom.depends_on) else atom
        for atom in loop.atoms
        if atom.id not in gone
    ]
    loop.decompositions[:] = [
        replace(split, children=_without(split.children, gone, {})) if gone & set(split.children) else split
        for split in loop.decompositions
        if split.parent not in gone and not gone >= set(split.children)
    ]
    for name, group in list(loop.or_groups.items()):
        if gone >= set(group.choices):
            del loop.or_groups[name]
        elif any(gone.intersection(atoms) for atoms in group.hints.values()):
            hints = {key: tuple(atom for atom in atoms if atom not in gone) for key, atoms in group.hints.items()}
            loop.or_groups[name] = replace(group, hints={key: atoms for key, atoms in hints.items() if atoms})
    for atom_id in gone:
        loop.bindings.pop(atom_id, None)
    board.rebuild()


def _without(names: tuple[str, ...], gone: set[str], instead: dict[str, str]) -> tuple[str, ...]:
    kept = [instead.get(name, name) if name in gone else name for name in names if name not in gone or name in instead]
    return tuple(dict.fromkeys(kept))
