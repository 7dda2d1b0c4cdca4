"""The context of a worker: the objective, the atom, and the results of its direct dependencies.

A resolved atom is reduced to its binding. The size of the context does not grow with the length of a run. It holds the
objective, the atom, the results it builds on, and the lessons from failures that concern it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Binding, Objective

MOST_FAILURES = 5


class Context(msgspec.Struct, frozen=True, kw_only=True):
    objective: Objective
    atom: Atom
    results: dict[str, Binding]
    """Results of its direct dependencies: of a group the selected choice, of a decomposed atom its parts. The nearest
    are first: those that build on others of them.
    """
    failures: tuple[str, ...]
    """Why the atom failed before, and why its alternatives were given up. The latest reason is last."""
    may_split: bool = True
    """The limits and the atom's group allow a decomposition."""


def context_of(graph: Graph, atom_id: str) -> Context:
    loop = graph.loop
    atom = graph.atoms[atom_id]
    sources = [source for source in _builds_on(graph, atom) if source in loop.bindings]
    results = {source: loop.bindings[source] for source in _nearest_first(graph, sources)}
    concerned = {*graph.unit(atom_id), *graph.parents_of_unit(atom_id)}
    lines = [
        f"{entry.atom}: {entry.reason}" for entry in loop.trail if entry.type == "failure" and entry.atom in concerned
    ]
    group = graph.group(atom_id)
    is_racing = group is not None and group.speculative
    is_deep = graph.depth(atom_id) + 1 > loop.objective.constraints.max_depth
    return Context(
        objective=loop.objective,
        atom=atom,
        results=results,
        failures=tuple(dict.fromkeys(lines))[-MOST_FAILURES:],
        may_split=not (is_racing or is_deep or atom.whole),
    )


def _builds_on(graph: Graph, atom: Atom) -> Iterator[str]:
    """The atoms it builds on, including parts of parts, because a decomposed atom's result only names its parts."""
    open_ids = list(atom.depends_on)
    seen: set[str] = set()
    while open_ids:
        needed = open_ids.pop(0)
        group = graph.group(needed)
        chosen = group.selected if group is not None else needed
        if chosen in seen:
            continue
        seen.add(chosen)
        if parts := graph.children_of.get(chosen):
            open_ids += parts
        else:
            yield chosen


def _nearest_first(graph: Graph, sources: list[str]) -> list[str]:
    """The more atoms lie below a source, the nearer it is. Sources that are equally near keep their order."""
    below: dict[str, int] = {}
    for source in sources:
        _count_levels(graph, source, below)
    return sorted(sources, key=lambda source: -below[source])


def _count_levels(graph: Graph, atom_id: str, below: dict[str, int]) -> None:
    """The longest path of dependencies below an atom. Without recursion: a chain may have thousands of atoms."""
    to_do, begun = [atom_id], set[str]()
    while to_do:
        current = to_do[-1]
        needed = [need for need in graph.needs(current) if need in graph.atoms]
        missing = [need for need in needed if need not in below and need not in begun]
        if current not in below and current not in begun and missing:
            begun.add(current)
            to_do += missing
            continue
        below.setdefault(current, 1 + max((below.get(need, 0) for need in needed), default=0))
        to_do.pop()
