"""Why a loop cannot go on: nothing is left to try, nothing gets smaller, or a limit is reached.

Whoever drives a loop asks the same questions here; what is under way, and what is tried before it ends, is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aotloop.core.board import Board
from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import AlternativeSought, Event
from aotloop.core.limits import seconds
from aotloop.core.model import Constraints, Control

MOST_NAMED = 8


def is_all_resolved(board: Board) -> bool:
    """Nothing that is required is unresolved, repairs included."""
    if board.unresolved_count():
        return False
    return all(atom.repairs is None or atom.status == "resolved" for atom in board.loop.atoms)


def stalled(control: Control, limits: Constraints) -> str | None:
    if control.stall_count < limits.max_stall_count:
        return None
    return f"stalled: {control.stall_count} generations in a row in which nothing got smaller"


def over_limit(control: Control, limits: Constraints, *, is_open: bool = False) -> str | None:
    """`is_open`: a generation is under way, so the last one that is allowed has not ended."""
    if control.iteration >= limits.max_iterations and not is_open:
        return f"limit: {control.iteration} iterations, as many as allowed"
    if limits.max_runtime is not None and control.ran_seconds >= seconds(limits.max_runtime):
        return f"limit: it ran for {limits.max_runtime}, as long as allowed"
    if limits.max_cost_usd is not None and control.cost_usd >= limits.max_cost_usd:
        return f"limit: it cost ${control.cost_usd:.2f} of the ${limits.max_cost_usd:.2f} allowed"
    return None


def spent(board: Board) -> list[str]:
    """Required atoms for which every attempt has failed."""
    unresolved = (board.atoms[one] for one in board.unresolved())
    return [atom.id for atom in unresolved if atom.status == "pending" and board.is_exhausted(atom.id)]


def exhausted(board: Board) -> str:
    """What is said when nothing can start, and nothing is under way."""
    if failed := spent(board):
        named = ", ".join(failed[:MOST_NAMED]) + (" …" if len(failed) > MOST_NAMED else "")
        return f"exhausted: every attempt and every alternative has failed for {named}"
    return f"exhausted: nothing can start; not resolved: {', '.join(board.unresolved()[:MOST_NAMED])}"


def unmendable(failing: Iterable[str]) -> str:
    return f"exhausted: the base case fails, and nothing is left to try: {', '.join(failing)}"


def find_a_way_out(board: Board, advance: Callable[[Event], list[Effect]], at: str) -> list[Effect]:
    """For an atom that had failed for good and is required again, by a choice that was freed."""
    effects: list[Effect] = []
    for atom_id in spent(board):
        found = advance(AlternativeSought(atom=atom_id, reason="its attempts are spent", at=at))
        effects += found
        if any(isinstance(one, Backtracked) for one in found):
            break
    return effects
