"""Strategies: how the loop continues. The next turn and its reason, reported blockers, in one piece or in parts."""

from __future__ import annotations

from collections.abc import Iterable

from aotloop.core.effects import Added, Backtracked, Effect, Reopened, Withdrawn
from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import conflict_set
from aotloop.core.graph.units import is_promising, next_in_line
from aotloop.core.policy.turns import turn
from aotloop.hooks.outlook import names, short_name
from aotloop.text.shorten import short_line

MOST_HINTS = 3


def changes(board: Board, effects: Iterable[Effect]) -> list[str]:
    """The decisions of the machine itself."""
    lines: list[str] = []
    for effect in effects:
        match effect:
            case Backtracked(or_group=group, left=left, selected=selected, undone=undone):
                why = _why(board, selected)
                had = f"{short_name(left)} has had its turn"
                lines.append(f"{short_name(group)} has switched: {had}, go on with {selected} ({why}).")
                if undone:
                    ids = short_line(",".join(undone), 600)
                    lines.append(f"First take back what was built on it: take_back.py {ids} --reason R.")
            case Withdrawn(parents=parents):
                lines.append(f"Decomposing {names(parents)} led nowhere: do it whole, in one piece.")
            case Reopened(atoms=atoms):
                lines.append(f"The base case does not hold; items fail that these atoms cover: {names(atoms)}.")
            case Added(atoms=atoms):
                lines.append(f"The base case does not hold; these atoms must repair it: {names(atoms)}.")
            case _:
                pass
    return lines


def advice(board: Board, ready: Iterable[str]) -> list[str]:
    """Advice for a stall, about the atom that failed most often."""
    candidates = [board.atoms[atom_id] for atom_id in ready]
    if not candidates:
        return []
    atom = max(candidates, key=lambda candidate: candidate.failures)
    ways = []
    if atom.partial:
        ways.append("begin from the work that holds")
    if _may_be_decomposed(board, atom.id):
        ways.append("decompose it (decompose_atom.py)")
    if conflict_set(board, atom.id) - {board.group_of.get(atom.id)}:
        ways.append("if another atom's result is in its way, name it (fail_atom.py --because-of)")
    ways.append("try another approach; the same once more does not count as one")
    return [f"Stalled: switch strategy for atom {short_name(atom.id)}: {', or '.join(ways)}."]


def standing(board: Board, atom_id: str) -> str:
    """The history of an atom, and the next step if it fails again; empty if there is nothing to say."""
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
        parts.append(f"after {more} it is the turn of {short_name(following)}")
    if atom.partial:
        parts.append("part of its work holds: go on from there")
    return f" ({'; '.join(parts)})" if parts else ""


def hints(board: Board) -> list[str]:
    """Hints that were given once. When the same hint comes again, the group leaves the choice."""
    lines = [
        f"{names(speakers)} said that {short_name(choice)} is in the way; said again, {short_name(name)} leaves it."
        for name, group in board.loop.or_groups.items()
        for choice, speakers in group.hints.items()
        if choice == group.selected and choice in board.required
    ]
    return lines[:MOST_HINTS]


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
