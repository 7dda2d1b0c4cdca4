"""A decomposed atom is never run: it is resolved when everything it needs is, after its check, if it has one."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.checklist import check_of
from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.model import Binding
from aotloop.core.tally import count_resolved


def resolve_parents(board: Board, atom_id: str) -> list[Effect]:
    """What waits for a resolved atom, was decomposed, and has nothing left to wait for; and so on upwards."""
    effects: list[Effect] = []
    open_ids = [atom_id]
    for resolved in open_ids:  # grows while we walk it
        waiting = [one for one in board.consumers.get(resolved, ()) if one in board.children_of]
        for parent in sorted(waiting, key=lambda one: board.position[one]):
            for effect in settle_parent(board, parent):
                if effect in effects:  # it waited for two things that were resolved at once
                    continue
                effects.append(effect)
                if isinstance(effect, Resolved):
                    open_ids.append(effect.atom)
    return effects


def settle_parent(board: Board, parent: str) -> list[Effect]:
    """Resolves one parent, or asks for its check; nothing if it still waits, or if the file has no such atom."""
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
