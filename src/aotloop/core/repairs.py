"""Repairs: when all is resolved and a check still fails, each failing item becomes an atom that is to mend it.

A repair rests on everything (of a parent: on all its parts), so it is dropped when any of that is given up.
"""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.effects import Added, Effect
from aotloop.core.model import Atom, Decomposition, Loop
from aotloop.core.parts import free_ids

LONGEST_EVIDENCE = 600


def repair_items(board: Board, failing: dict[str, str]) -> list[Effect]:
    """One repair for each failing item of the base case, carrying the evidence."""
    fresh = islice(free_ids(board), len(failing))
    repairs = [_repair(one, item, evidence) for one, (item, evidence) in zip(fresh, failing.items(), strict=True)]
    board.grow(repairs)
    return [Added(atoms=tuple(one.id for one in repairs))]


def repair_parent(board: Board, parent: str, evidence: str) -> list[Effect]:
    """All parts of an atom are resolved, its own check failed: one more part, which is to mend that."""
    repair = _repair(next(free_ids(board)), parent, evidence)
    split = Decomposition(parent=parent, children=(repair.id,), reason=f"the check of {parent} failed")
    board.grow([repair], decompositions=[split])
    return [Added(atoms=(repair.id,))]


def _repair(atom_id: str, broken: str, evidence: str) -> Atom:
    shown = evidence if len(evidence) <= LONGEST_EVIDENCE else f"{evidence[:LONGEST_EVIDENCE]}…"
    return Atom(
        id=atom_id,
        description=f'Make this hold: "{broken}". It fails: {shown}',
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
