"""A decomposed atom is never run: it is resolved when everything it needs is, after its own check, if it has one."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.graph import Graph
from aotloop.core.model import Binding, Loop


def resolve_parents(loop: Loop, atom_id: str) -> list[Effect]:
    """What waits for a resolved atom, was decomposed, and has nothing left to wait for; and so on upwards."""
    effects: list[Effect] = []
    open_ids = [atom_id]
    while open_ids:
        graph = Graph(loop)
        waiting = [one for one in graph.consumers.get(open_ids.pop(0), ()) if one in graph.children_of]
        for parent in sorted(waiting, key=lambda one: graph.position[one]):
            for effect in settle_parent(loop, graph, parent):
                effects.append(effect)
                if isinstance(effect, Resolved):
                    open_ids.append(effect.atom)
    return effects


def settle_parent(loop: Loop, graph: Graph, parent: str) -> list[Effect]:
    """Resolves one parent, or asks for its check; nothing if it still waits."""
    atom = graph.atoms[parent]
    if atom.status != "pending" or graph.waits_for(parent):
        return []
    if atom.check is not None:
        return [CheckParent(atom=parent)]
    resolve_parent(loop, graph, parent)
    return [Resolved(atom=parent)]


def resolve_parent(loop: Loop, graph: Graph, parent: str) -> None:
    place = graph.position[parent]
    loop.atoms[place] = replace(loop.atoms[place], status="resolved")
    children = ", ".join(graph.children_of[parent])
    loop.bindings[parent] = Binding(summary=f"Completed via {children} resolution")
