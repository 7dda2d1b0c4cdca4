"""Which way it goes on: whose turn it is and why, what was said to be in the way, in one piece again, or in parts."""

from __future__ import annotations

from collections.abc import Iterable

from aotloop.core.board import Board
from aotloop.core.conflicts import conflict_set
from aotloop.core.effects import Added, Backtracked, Effect, Reopened, Withdrawn
from aotloop.core.turns import turn
from aotloop.core.units import is_promising, next_in_line
from aotloop.hooks.words import line, names

MOST_HINTS = 3


def changes(board: Board, effects: Iterable[Effect]) -> list[str]:
    """What the machine has decided by itself."""
    told: list[str] = []
    for effect in effects:
        match effect:
            case Backtracked(or_group=group, left=left, selected=selected, undone=undone):
                why = _why(board, selected)
                told.append(
                    f"{line(group, 40)} has switched: {line(left, 40)} has had its turn, go on with {selected} ({why})."
                )
                if undone:
                    told.append(
                        f"First take back what was built on it: take_back.py {line(','.join(undone), 600)} --reason R."
                    )
            case Withdrawn(parents=parents):
                told.append(f"Decomposing {names(parents)} led nowhere: do it whole, in one piece.")
            case Reopened(atoms=atoms):
                told.append(f"The base case does not hold; items fail that these atoms cover: {names(atoms)}.")
            case Added(atoms=atoms):
                told.append(f"The base case does not hold; these atoms are to mend it: {names(atoms)}.")
            case _:
                pass
    return told


def advice(board: Board, ready: Iterable[str]) -> list[str]:
    """For a stall. The atom that failed most often is what it hangs on."""
    candidates = [board.atoms[one] for one in ready]
    if not candidates:
        return []
    atom = max(candidates, key=lambda one: one.failures)
    ways = []
    if atom.partial:
        ways.append("begin from the work that holds")
    if _may_be_decomposed(board, atom.id):
        ways.append("decompose it (decompose_atom.py)")
    if conflict_set(board, atom.id) - {board.group_of.get(atom.id)}:
        ways.append("if another atom's result is in its way, name it (fail_atom.py --because-of)")
    ways.append("try another approach; the same once more does not count as one")
    return [f"Stalled: switch strategy for atom {line(atom.id, 40)}: {', or '.join(ways)}."]


def standing(board: Board, atom_id: str) -> str:
    """How it went with an atom so far, and what comes next if it fails again; nothing if there is nothing to say."""
    atom = board.atoms[atom_id]
    parts = []
    if atom.probe:
        parts.append("a probe first")
    if atom.failures:
        parts.append(f"failed {_times(atom.failures)}")
    if atom.failures and atom.run is not None:
        parts.append("run it again only if something it needs has changed, else end your turn")
    elif atom.failures and (following := _next(board, atom_id)) is not None:
        left = max(turn(board.loop) - atom.attempts, 1)
        more = "1 more failure" if left == 1 else f"{left} more failures"
        parts.append(f"after {more} it is the turn of {line(following, 40)}")
    if atom.partial:
        parts.append("part of its work holds: go on from there")
    return f" ({'; '.join(parts)})" if parts else ""


def hints(board: Board) -> list[str]:
    """What was said once; the second time the same is said, the choice is left."""
    told = [
        f"{names(speakers)} said that {line(choice, 40)} is in the way; said again, {line(name, 40)} leaves it."
        for name, group in board.loop.or_groups.items()
        for choice, speakers in group.hints.items()
        if choice == group.selected and choice in board.required
    ]
    return told[:MOST_HINTS]


def _why(board: Board, choice: str) -> str:
    failures = board.atoms[choice].failures
    if is_promising(board, choice):
        return "part of its work holds"
    return f"it failed {_times(failures)}" if failures else "it was never tried"


def _next(board: Board, atom_id: str) -> str | None:
    name = board.group_of.get(atom_id)
    return next_in_line(board, name) if name is not None else None


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _may_be_decomposed(board: Board, atom_id: str) -> bool:
    atom, group = board.atoms[atom_id], board.group(atom_id)
    is_racing = group is not None and group.speculative
    deep_enough = board.depth(atom_id) + 1 <= board.loop.objective.constraints.max_depth
    return not atom.whole and atom.run is None and not is_racing and deep_enough
