"""Which way it goes on: another alternative, in one piece again, a probe first, or in parts."""

from __future__ import annotations

from collections.abc import Iterable

from aotloop.core.board import Board
from aotloop.core.effects import Added, Backtracked, Effect, Withdrawn
from aotloop.hooks.words import line, names


def changes(effects: Iterable[Effect]) -> list[str]:
    """What the machine has decided by itself."""
    told: list[str] = []
    for effect in effects:
        match effect:
            case Backtracked(or_group=group, left=left, selected=selected, undone=undone):
                told.append(f"{line(group, 40)} has switched: {line(left, 40)} is given up, go on with {selected}.")
                if undone:
                    told.append(
                        f"First take back what was built on it: take_back.py {line(','.join(undone), 600)} --reason R."
                    )
            case Withdrawn(parents=parents):
                told.append(f"Decomposing {names(parents)} led nowhere: do it whole, in one piece.")
            case Added(atoms=atoms):
                told.append(f"The base case does not hold; these atoms are to mend it: {names(atoms)}.")
            case _:
                pass
    return told


def advice(board: Board, ready: Iterable[str]) -> list[str]:
    """For a stall that the machine has no remedy for. The atom that failed most often is what it hangs on."""
    candidates = [board.atoms[one] for one in ready]
    if not candidates:
        return []
    atom = max(candidates, key=lambda one: one.attempts)
    ways = []
    if atom.findings is None and atom.run is None:
        ways.append("have a probe look at it first")
    if _may_be_decomposed(board, atom.id):
        ways.append("decompose it (decompose_atom.py)")
    ways.append("try another approach; the same once more does not count as one")
    return [f"Stalled: switch strategy for atom {line(atom.id, 40)}: {', or '.join(ways)}."]


def _may_be_decomposed(board: Board, atom_id: str) -> bool:
    atom, group = board.atoms[atom_id], board.group(atom_id)
    is_racing = group is not None and group.speculative
    deep_enough = board.depth(atom_id) + 1 <= board.loop.objective.constraints.max_depth
    return not atom.whole and atom.run is None and not is_racing and deep_enough
