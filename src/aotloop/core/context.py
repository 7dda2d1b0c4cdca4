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
    """Results of its direct dependencies: of a group the selected choice, of a decomposed atom its parts."""
    failures: tuple[str, ...]
    """Why the atom failed before, and why its alternatives were given up. The latest reason is last."""
    may_split: bool = True
    """The limits and the atom's group allow a decomposition."""


def context_of(graph: Graph, atom_id: str) -> Context:
    loop = graph.loop
    atom = graph.atoms[atom_id]
    results = {source: loop.bindings[source] for source in _builds_on(graph, atom) if source in loop.bindings}
    concerned = {*graph.unit(atom_id), *graph.parents_of_unit(atom_id)}
    told = [
        f"{entry.atom}: {entry.reason}" for entry in loop.trail if entry.type == "failure" and entry.atom in concerned
    ]
    group = graph.group(atom_id)
    is_racing = group is not None and group.speculative
    is_deep = graph.depth(atom_id) + 1 > loop.objective.constraints.max_depth
    return Context(
        objective=loop.objective,
        atom=atom,
        results=results,
        failures=tuple(dict.fromkeys(told))[-MOST_FAILURES:],
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
