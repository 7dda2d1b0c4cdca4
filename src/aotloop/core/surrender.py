"""Giving up a choice that nothing is wrong with in itself, because the whole does not get anywhere with it."""

from __future__ import annotations

from aotloop.core.board import Board
from aotloop.core.conflicts import conflict_set, group_to_switch, untried
from aotloop.core.effects import Effect, Exhausted
from aotloop.core.events import BranchSwitched
from aotloop.core.failure import cheapest, leave


def give_up_a_choice(board: Board, reason: str, at: str) -> list[Effect]:
    """Any group may be the one to blame; if none has an alternative left, nothing can be done."""
    effects = _switch(board, set(board.loop.or_groups), None, reason, at)
    return effects or [Exhausted(atom=None)]


def give_up_what_stalls(board: Board, at: str) -> list[Effect]:
    """A choice that some failing atom rests on, if there is one; else any that was tried: no other can be the cause."""
    failing = [board.atoms[one] for one in board.unresolved() if board.atoms[one].attempts]
    reason = "nothing got smaller"
    for atom in sorted(failing, key=lambda one: -one.attempts):
        if effects := _switch(board, conflict_set(board, atom.id), atom.id, f"{reason}: {atom.id} keeps failing", at):
            return effects
    tried = {name for name, group in board.loop.or_groups.items() if _was_tried(board, group.selected)}
    return _switch(board, tried, None, reason, at)


def _was_tried(board: Board, choice: str) -> bool:
    atom = board.atoms[choice]
    return atom.status != "pending" or atom.attempts > 0 or choice in board.children_of


def _switch(board: Board, conflict: set[str], failed: str | None, reason: str, at: str) -> list[Effect]:
    required = {name for name in conflict if board.loop.or_groups[name].selected in board.required}
    found = group_to_switch(board, required)
    if found is None:
        return []
    name, blamed = found
    choice = cheapest(board, untried(board, board.loop.or_groups[name]))
    switched = BranchSwitched(or_group=name, choice=choice, reason=reason, at=at)
    return leave(board, switched, failed=failed, blamed=blamed)
