"""Which atoms a session starts at once: those whose `touches` clash with nobody's, as many as there are slots for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from aotloop.core.graph import Graph
from aotloop.core.model import Atom
from aotloop.core.touches import overlap


def start_now(graph: Graph, ready: Iterable[str], *, shares_a_tree: bool = False) -> list[str]:
    """Of what is ready, best first: what can start beside what is in progress, and one another.

    `shares_a_tree`: all work on the same files, so that an atom that does not say what it touches has them for itself.
    """
    under_way = [atom for atom in graph.loop.atoms if atom.status == "in_progress"]
    free = max(graph.loop.objective.constraints.max_parallel_agents - len(under_way), 0)
    return list(islice(_apart(graph, ready, under_way, shares_a_tree), free))


def _apart(graph: Graph, ready: Iterable[str], under_way: list[Atom], shares_a_tree: bool) -> Iterator[str]:
    others = list(under_way)
    for atom in (graph.atoms[atom_id] for atom_id in ready):
        if not any(_clash(atom, other, shares_a_tree) for other in others):
            others.append(atom)
            yield atom.id


def _clash(one: Atom, other: Atom, shares_a_tree: bool) -> bool:
    if not (one.touches and other.touches):
        return shares_a_tree
    return overlap(one.touches, other.touches)
