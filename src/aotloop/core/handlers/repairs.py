"""Repairs: all atoms are resolved and a check still fails. Atoms that cover the failing item are reopened.

An item that no atom covers gets a repair: a new atom that must make this item pass. A repair rests on everything (for a
parent: on all its parts), so it is dropped when any of that is given up.
"""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from aotloop.core.checks.checklist import failing_items_of
from aotloop.core.effects import Added, Effect, Reopened
from aotloop.core.graph.board import Board
from aotloop.core.handlers.decomposition import free_ids
from aotloop.core.model import Atom, Decomposition, Loop, TrailEntry

LONGEST_EVIDENCE = 600


def repair_items(board: Board, failing: dict[str, str], at: str) -> list[Effect]:
    """Repairs each failing item of the base case. `failing` has the evidence for each item."""
    covering = _covering(board, failing)
    effects: list[Effect] = []
    for atom_id, items in covering.items():
        failures = "; ".join(f'"{item}" fails: {_shortened(failing[item])}' for item in items)
        _reopen(board, atom_id, failures, at)
        if atom_id in board.children_of:
            effects += repair_parent(board, atom_id, failures)
    if covering:
        effects.append(Reopened(atoms=tuple(covering)))
    left = {item: failing[item] for item in failing if not any(item in items for items in covering.values())}
    if left:
        fresh = islice(free_ids(board), len(left))
        repairs = [
            _repair(repair_id, item, evidence) for repair_id, (item, evidence) in zip(fresh, left.items(), strict=True)
        ]
        board.grow(repairs)
        effects.append(Added(atoms=tuple(repair.id for repair in repairs)))
    return effects


def _covering(board: Board, failing: dict[str, str]) -> dict[str, list[str]]:
    """Required atoms that cover a failing item, with their items. Parts are left out if their parent covers it too."""
    base_case = board.loop.objective.base_case
    found: dict[str, list[str]] = {}
    for atom in board.loop.atoms:
        if atom.covers and atom.id in board.required:  # all required atoms are resolved
            names = failing_items_of(base_case, atom.covers)
            if items := [item for item in failing if item in names]:
                found[atom.id] = items
    parts = {part for atom_id in found for part in board.descendants(atom_id)}
    return {atom_id: items for atom_id, items in found.items() if atom_id not in parts}


def _reopen(board: Board, atom_id: str, reason: str, at: str) -> None:
    """Reopens an atom and its parents. Dependents stay, because the work is improved, not taken back."""
    board.loop.trail.append(
        TrailEntry(or_group=board.group_of.get(atom_id), reason=reason, timestamp=at, type="failure", atom=atom_id)
    )
    board.put(replace(board.atoms[atom_id], failures=1))  # the attempts it needed before are counted already
    open_ids = [atom_id]
    for current in open_ids:  # the list grows during the walk
        if board.atoms[current].status == "resolved":
            is_done = current == atom_id and current not in board.children_of  # a parent contributes through its parts
            board.put(replace(board.atoms[current], status="pending", reopened=is_done))
            board.loop.bindings.pop(current, None)
        open_ids += [parent for parent in board.parents_of_unit(current) if parent not in open_ids]


def has_contributed(atom: Atom) -> bool:
    """Whether the atom's work is on the branch."""
    return atom.status == "resolved" or atom.reopened


def repair_parent(board: Board, parent: str, evidence: str) -> list[Effect]:
    """Adds one more part to a parent whose parts are resolved and whose own check failed. The part must repair that."""
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
    """Repairs that end with a reset: those of the base case, and those of a parent that is reset."""
    repairs = (atom.id for atom in board.loop.atoms if atom.repairs is not None)
    return [repair for repair in repairs if not board.parents_of.get(repair) or reset & set(board.parents_of[repair])]


def forget_rounds(loop: Loop) -> None:
    """Another choice gets new rounds of repair."""
    verdict = loop.control.verdict
    if verdict is not None and verdict.repair_rounds:
        loop.control = replace(loop.control, verdict=replace(verdict, repair_rounds={}))
