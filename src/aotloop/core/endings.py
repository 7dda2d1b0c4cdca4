"""Why a loop cannot go on: nothing is left to try, nothing gets smaller, units are hopeless, or a limit is reached.

Whoever drives a loop asks the same questions here; what is under way, and what is tried before it ends, is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from textwrap import shorten

from aotloop.core.board import Board
from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import AlternativeSought, Event
from aotloop.core.limits import Limits, seconds
from aotloop.core.measure import attempts_allowed
from aotloop.core.units import choices_of, is_hopeless

MOST_NAMED = 8
LONGEST_REASON = 200


def is_all_resolved(board: Board) -> bool:
    """Nothing that is required is unresolved, repairs included."""
    if board.unresolved_count():
        return False
    return all(atom.repairs is None or atom.status == "resolved" for atom in board.loop.atoms)


def stalled(board: Board, limits: Limits) -> str | None:
    """A unit that fails alike all the while is named: half of what would tell by itself is enough then."""
    stalls = board.loop.control.stall_count
    if stalls < limits.max_stall_count:
        return None
    named = next(filter(None, (hopeless(board, one, share=0.5) for one in board.unresolved())), None)
    return f"blocked: {named}" if named else f"stalled: {stalls} generations in a row in which nothing got smaller"


def hopeless(board: Board, atom_id: str, *, share: float = 1) -> str | None:
    """Every choice of this atom's unit has failed alike, far more often than bad luck explains: a person is needed."""
    group = board.group(atom_id)
    chosen = group.selected if group is not None else atom_id  # what failed has given way, as a rule
    if chosen not in board.required or not is_hopeless(board, chosen, share):
        return None
    choices = choices_of(board, chosen)
    times = sum(board.atoms[one].alike for one in choices)
    last = next((one.reason for one in reversed(board.loop.trail) if one.atom in choices and one.type == "failure"), "")
    named = " and ".join(choices[:MOST_NAMED])
    what = f"{named} asks for or its check" if len(choices) == 1 else f"{named} ask for or their checks"
    return (
        f"{named} failed {times} times in the same way ({shorten(last, LONGEST_REASON, placeholder='…')});"
        f" change what {what}, add an alternative, or grant another try: aot redirect --retry {choices[0]}"
    )


def over_limit(board: Board, limits: Limits, *, is_open: bool = False) -> str | None:
    """`is_open`: a generation is under way, so the last one that is allowed has not ended."""
    control = board.loop.control
    if control.tried >= (allowed := attempts_allowed(board.loop, limits)):
        return f"limit: {control.tried} attempts of the {allowed} allowed"
    if control.iteration >= limits.max_iterations and not is_open:
        return f"limit: {control.iteration} iterations, as many as allowed"
    if limits.max_runtime is not None and control.ran_seconds >= seconds(limits.max_runtime):
        return f"limit: it ran for {limits.max_runtime}, as long as allowed"
    if limits.max_cost_usd is not None and control.cost_usd >= limits.max_cost_usd:
        return f"limit: it cost ${control.cost_usd:.2f} of the ${limits.max_cost_usd:.2f} allowed"
    return None


def spent(board: Board) -> list[str]:
    """Repairs, and parents that fail their own check, for which patience is at its end."""
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
    """For an atom that was given up and is required again, by a choice that was freed."""
    effects: list[Effect] = []
    for atom_id in spent(board):
        found = advance(AlternativeSought(atom=atom_id, reason="it failed again and again", at=at))
        effects += found
        if any(isinstance(one, Backtracked) for one in found):
            break
    return effects
