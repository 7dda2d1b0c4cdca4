"""Decomposed atoms: they are never run. A parent is resolved when its parts are, and its check, if any, passes."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.checks.checklist import check_of
from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.graph.board import Board
from aotloop.core.model import Binding
from aotloop.core.policy.progress import count_resolved


def resolve_parents(board: Board, atom_id: str) -> list[Effect]:
    """Parents that waited for a resolved atom and have nothing left to wait for, and then their parents."""
    effects: list[Effect] = []
    open_ids = [atom_id]
    for resolved in open_ids:  # the list grows during the walk
        waiting = [consumer for consumer in board.consumers.get(resolved, ()) if consumer in board.children_of]
        for parent in sorted(waiting, key=lambda consumer: board.position[consumer]):
            for effect in settle_parent(board, parent):
                if effect in effects:  # it waited for two atoms that were resolved together
                    continue
                effects.append(effect)
                if isinstance(effect, Resolved):
                    open_ids.append(effect.atom)
    return effects


def settle_parent(board: Board, parent: str) -> list[Effect]:
    """Resolves one parent, or requests its check. Does nothing if it still waits, or if the file has no such atom."""
    atom = board.atoms.get(parent)
    if atom is None or parent not in board.children_of or atom.status != "pending" or board.waits_for(parent):
        return []
    if check_of(atom, board.loop.objective.base_case) is not None:
        return [CheckParent(atom=parent)] if not board.is_exhausted(parent) else []
    resolve_parent(board, parent)
    return [Resolved(atom=parent)]


def resolve_parent(board: Board, parent: str) -> None:
    board.put(replace(board.atoms[parent], status="resolved"))
    children = ", ".join(board.children_of[parent])
    board.loop.bindings[parent] = Binding(summary=f"Completed via {children} resolution")
    count_resolved(board.loop, board.atoms[parent])
