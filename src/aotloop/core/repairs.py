"""When all is resolved and a check still fails: atoms that cover the failing item are reopened, else it gets a repair.

A repair is an atom that is to make one item hold. It rests on everything (of a parent: on all its parts), so it is
dropped when any of that is given up.
"""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.checklist import failing_items_of
from aotloop.core.effects import Added, Effect, Reopened
from aotloop.core.model import Atom, Decomposition, Loop, TrailEntry
from aotloop.core.parts import free_ids

LONGEST_EVIDENCE = 600


def repair_items(board: Board, failing: dict[str, str], at: str) -> list[Effect]:
    """For each failing item of the base case, with its evidence."""
    covering = _covering(board, failing)
    effects: list[Effect] = []
    for atom_id, items in covering.items():
        said = "; ".join(f'"{item}" fails: {_shortened(failing[item])}' for item in items)
        _reopen(board, atom_id, said, at)
        if atom_id in board.children_of:
            effects += repair_parent(board, atom_id, said)
    if covering:
        effects.append(Reopened(atoms=tuple(covering)))
    left = {item: failing[item] for item in failing if not any(item in items for items in covering.values())}
    if left:
        fresh = islice(free_ids(board), len(left))
        repairs = [_repair(one, item, evidence) for one, (item, evidence) in zip(fresh, left.items(), strict=True)]
        board.grow(repairs)
        effects.append(Added(atoms=tuple(one.id for one in repairs)))
    return effects


def _covering(board: Board, failing: dict[str, str]) -> dict[str, list[str]]:
    """Required atoms that cover a failing item, each with the items; not the parts of one that covers it as well."""
    base_case = board.loop.objective.base_case
    found: dict[str, list[str]] = {}
    for atom in board.loop.atoms:
        if atom.covers and atom.id in board.required:  # all that is required is resolved
            names = failing_items_of(base_case, atom.covers)
            if items := [item for item in failing if item in names]:
                found[atom.id] = items
    parts = {part for one in found for part in board.descendants(one)}
    return {one: items for one, items in found.items() if one not in parts}


def _reopen(board: Board, atom_id: str, reason: str, at: str) -> None:
    """And all that it is a part of. What depends on it stays: it is to be done better, not to be taken back."""
    board.loop.trail.append(
        TrailEntry(or_group=board.group_of.get(atom_id), reason=reason, timestamp=at, type="failure", atom=atom_id)
    )
    board.put(replace(board.atoms[atom_id], failures=1))  # what it needed before is counted already
    open_ids = [atom_id]
    for one in open_ids:  # grows while we walk it
        if board.atoms[one].status == "resolved":
            is_done = one == atom_id and one not in board.children_of  # a whole contributes by its parts
            board.put(replace(board.atoms[one], status="pending", reopened=is_done))
            board.loop.bindings.pop(one, None)
        open_ids += [parent for parent in board.parents_of_unit(one) if parent not in open_ids]


def has_contributed(atom: Atom) -> bool:
    """What it did is on the branch."""
    return atom.status == "resolved" or atom.reopened


def repair_parent(board: Board, parent: str, evidence: str) -> list[Effect]:
    """All parts of an atom are resolved, its own check failed: one more part, which is to mend that."""
    repair = _repair(next(free_ids(board)), parent, evidence)
    split = Decomposition(parent=parent, children=(repair.id,), reason=f"the check of {parent} failed")
    board.grow([repair], decompositions=[split])
    return [Added(atoms=(repair.id,))]


def _shortened(evidence: str) -> str:
    return evidence if len(evidence) <= LONGEST_EVIDENCE else f"{evidence[:LONGEST_EVIDENCE]}…"


def _repair(atom_id: str, broken: str, evidence: str) -> Atom:
    return Atom(
        id=atom_id,
        description=f'Make this hold: "{broken}". It fails: {_shortened(evidence)}',
        status="pending",
        depends_on=(),
        repairs=broken,
        whole=True,
    )


def repairs_of(board: Board, reset: set[str]) -> list[str]:
    """Repairs of what is being given up: those of the base case, and those of a parent that is reset."""
    repairs = (atom.id for atom in board.loop.atoms if atom.repairs is not None)
    return [one for one in repairs if not board.parents_of.get(one) or reset & set(board.parents_of[one])]


def forget_rounds(loop: Loop) -> None:
    """Another choice, another chance to mend what fails with it."""
    verdict = loop.control.verdict
    if verdict is not None and verdict.repair_rounds:
        loop.control = replace(loop.control, verdict=replace(verdict, repair_rounds={}))
