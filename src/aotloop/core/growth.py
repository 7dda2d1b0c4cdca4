"""How a graph grows: an atom is added, or decomposed into children. Growth that would not be valid is refused whole."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from aotloop.core.events import AtomAdded, AtomDecomposed, Event
from aotloop.core.graph import Graph
from aotloop.core.illegal import illegal
from aotloop.core.invariants import problems_of_atom_terms
from aotloop.core.model import Atom, Decomposition, Loop, OrGroup

LONGEST_NUMBER = 18
"""Digits. Who uses longer ones does not count with them."""


def add_atom(loop: Loop, event: AtomAdded) -> str:
    graph = Graph(loop)
    atom_id = event.atom if event.atom is not None else next(free_ids(graph))
    _refuse_bad_id(graph, event, atom_id, event.or_group)
    for needed in event.depends_on:
        if needed not in graph.atoms:
            raise illegal(None, event, f"{atom_id} cannot depend on {needed}: there is no such atom")
    atom = Atom(
        id=atom_id,
        description=event.description,
        status="pending",
        depends_on=event.depends_on,
        or_group=event.or_group,
        run=event.run,
        check=event.check,
        estimate=event.estimate,
    )
    for problem in problems_of_atom_terms(atom, ()):
        if problem.level == "error":
            raise illegal(None, event, f"{atom_id}: {problem}")
    grown = loop.snapshot()
    grown.atoms.append(atom)
    if event.or_group is not None:
        grown.or_groups[event.or_group] = _with_choice(loop.or_groups.get(event.or_group), atom_id)
    _refuse_cycle(grown, event)
    loop.atoms, loop.or_groups = grown.atoms, grown.or_groups
    return atom_id


def decompose(loop: Loop, event: AtomDecomposed) -> tuple[str, ...]:
    graph = Graph(loop)
    parent = graph.atoms.get(event.parent)
    if parent is None:
        raise illegal(None, event, f"there is no atom {event.parent}")
    _refuse_decomposition(loop, graph, event, parent)
    fresh = free_ids(graph, taken={child.atom for child in event.children if child.atom is not None})
    children = []
    for child in event.children:
        child_id = child.atom if child.atom is not None else next(fresh)
        _refuse_bad_id(graph, event, child_id, None)
        children.append(
            Atom(id=child_id, description=child.description, status="pending", depends_on=parent.depends_on)
        )
    ids = tuple(child.id for child in children)
    if len(set(ids)) < len(ids):
        raise illegal(loop, event, f"two children have the same id: {', '.join(ids)}", parent.id)
    place = graph.position[parent.id]
    loop.atoms[place] = replace(parent, status="pending")
    loop.atoms.extend(children)
    loop.bindings.pop(parent.id, None)
    loop.decompositions.append(Decomposition(parent=parent.id, children=ids, reason=event.reason))
    return ids


def free_ids(graph: Graph, taken: set[str] = frozenset()) -> Iterator[str]:  # type: ignore[assignment]
    """A<n>, counting on from the highest number in use (choices that are not atoms yet included)."""
    used = [*graph.atoms, *graph.group_of, *taken]
    numbered = [one[1:] for one in used if one[:1] == "A" and one[1:].isdecimal() and len(one) < LONGEST_NUMBER]
    number = max(map(int, numbered), default=0)
    while True:
        number += 1
        yield f"A{number}"


def _with_choice(group: OrGroup | None, atom_id: str) -> OrGroup:
    if group is None:
        return OrGroup(choices=(atom_id,), selected=atom_id)
    choices = group.choices if atom_id in group.choices else (*group.choices, atom_id)
    selected = atom_id if group.selected in group.failed and atom_id not in group.failed else group.selected
    return replace(group, choices=choices, selected=selected)


def _refuse_bad_id(graph: Graph, event: Event, atom_id: str, or_group: str | None) -> None:
    if not atom_id.strip():
        raise illegal(None, event, "an atom's id may not be blank")
    if atom_id in graph.atoms:
        raise illegal(None, event, f"there is an atom {atom_id} already; the next free id is {next(free_ids(graph))}")
    promised = graph.group_of.get(atom_id, or_group)
    if promised != or_group:
        raise illegal(None, event, f"{atom_id} is named as a choice of {promised}, so it has to be added to that group")


def _refuse_decomposition(loop: Loop, graph: Graph, event: AtomDecomposed, parent: Atom) -> None:
    limits = loop.objective.constraints
    group = graph.group(parent.id)
    why = None
    if not event.children:
        why = "there are no children"
    elif parent.status == "resolved":
        why = f"{parent.id} is resolved"
    elif parent.id in graph.children_of:
        why = f"{parent.id} was decomposed already, into {', '.join(graph.children_of[parent.id])}"
    elif parent.run is not None:
        why = f"{parent.id} is done by a command; a command has no parts"
    elif group is not None and group.speculative:
        why = f"{parent.id} races with other choices of {graph.group_of[parent.id]}; racers are not decomposed"
    elif len(event.children) > limits.max_children:
        why = f"{len(event.children)} children are more than max_children, {limits.max_children}"
    elif graph.depth(parent.id) + 1 > limits.max_depth:
        why = f"{parent.id} is {graph.depth(parent.id)} levels deep; max_depth is {limits.max_depth}"
    if why is not None:
        raise illegal(loop, event, why, parent.id)


def _refuse_cycle(grown: Loop, event: Event) -> None:
    if (cycle := Graph(grown).find_cycle()) is not None:
        raise illegal(None, event, f"that would close a cycle: {' → '.join(cycle)}")
