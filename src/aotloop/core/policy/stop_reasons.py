"""Reasons to stop: nothing is left to try, nothing gets smaller, units are hopeless, or a limit is reached.

All drivers of a loop ask these questions here. Each driver handles its own running work and its last steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import AlternativeSought, Event
from aotloop.core.graph.board import Board
from aotloop.core.graph.units import choices_of, is_hopeless
from aotloop.core.limits import Limits, seconds
from aotloop.core.measure import attempts_allowed
from aotloop.text.phrases import listed
from aotloop.text.shorten import whole_words

MOST_NAMED = 8
LONGEST_REASON = 200


def is_all_resolved(board: Board) -> bool:
    """Every required atom is resolved, including repairs."""
    if board.unresolved_count():
        return False
    return all(atom.repairs is None or atom.status == "resolved" for atom in board.loop.atoms)


def stalled(board: Board, limits: Limits) -> str | None:
    """The reason of a stall. It names a unit that always fails in the same way; half the usual evidence is enough."""
    stalls = board.loop.control.stall_count
    if stalls < limits.max_stall_count:
        return None
    named = next(filter(None, (hopeless(board, atom_id, share=0.5) for atom_id in board.unresolved())), None)
    return f"blocked: {named}" if named else f"stalled: {stalls} generations in a row in which nothing got smaller"


def hopeless(board: Board, atom_id: str, *, share: float = 1) -> str | None:
    """Every choice of the unit failed in the same way, far more often than bad luck explains. A person is needed."""
    group = board.group(atom_id)
    chosen = group.selected if group is not None else atom_id  # the selected choice has usually replaced the failed one
    if chosen not in board.required or not is_hopeless(board, chosen, share):
        return None
    choices = choices_of(board, chosen)
    times = sum(board.atoms[choice].alike for choice in choices)
    last = next(
        (entry.reason for entry in reversed(board.loop.trail) if entry.atom in choices and entry.type == "failure"), ""
    )
    named = " and ".join(choices[:MOST_NAMED])
    what = f"{named} asks for or its check" if len(choices) == 1 else f"{named} ask for or their checks"
    return (
        f"{named} failed {times} times in the same way ({whole_words(last, LONGEST_REASON)});"
        f" change what {what}, add an alternative, or grant another try: aot redirect --retry {choices[0]}"
    )


def over_limit(board: Board, limits: Limits, *, is_open: bool = False) -> str | None:
    """`is_open`: a generation is running, so the last allowed one has not ended."""
    control = board.loop.control
    if control.tried >= (allowed := attempts_allowed(board.loop, limits)):
        return f"limit: {control.tried} attempts of the {allowed} allowed"
    if control.iteration >= limits.max_iterations and not is_open:
        return f"limit: {control.iteration} iterations, as many as allowed"
    if is_out_of_time(board, limits):
        return f"limit: its runtime of {limits.max_runtime} is used up"
    if limits.max_cost_usd is not None and control.cost_usd >= limits.max_cost_usd:
        return f"limit: it cost ${control.cost_usd:.2f} of the ${limits.max_cost_usd:.2f} allowed"
    return None


def is_out_of_time(board: Board, limits: Limits) -> bool:
    return limits.max_runtime is not None and board.loop.control.ran_seconds >= seconds(limits.max_runtime)


def spent(board: Board) -> list[str]:
    """Repairs, and parents that fail their own check, whose patience is used up."""
    unresolved = (board.atoms[atom_id] for atom_id in board.unresolved())
    return [atom.id for atom in unresolved if atom.status == "pending" and board.is_exhausted(atom.id)]


def exhausted(board: Board) -> str:
    """The reason when nothing can start and nothing is running."""
    if failed := spent(board):
        return f"exhausted: every attempt and every alternative has failed for {listed(failed)}"
    return f"exhausted: nothing can start; not resolved: {listed(board.unresolved())}"


def unmendable(failing: Iterable[str]) -> str:
    """Names of items are quoted: an item may be called "no finding is open", and is failing."""
    named = ", ".join(f'"{name}"' for name in failing)
    return f"exhausted: the base case fails, and no further attempt is allowed; failing: {named}"


def find_a_way_out(board: Board, advance: Callable[[Event], list[Effect]], at: str) -> list[Effect]:
    """Looks for alternatives to an atom that was given up and is required again after a choice was freed."""
    effects: list[Effect] = []
    for atom_id in spent(board):
        found = advance(AlternativeSought(atom=atom_id, reason="it failed again and again", at=at))
        effects += found
        if any(isinstance(effect, Backtracked) for effect in found):
            break
    return effects
