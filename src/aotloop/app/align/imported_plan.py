"""An imported plan becomes a draft: its pieces are the atoms, in order; its criteria, in words, say when it is done.

A piece in the words of an atom that is there is that atom: so a list can be imported again after it has grown.
"""

from __future__ import annotations

from aotloop.app.align.coverage import stated, with_covers
from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.model import Loop
from aotloop.importers.plan import Plan

MOST_CRITERIA = 40
"""Lines. What follows is with the atoms all the same."""


def draft_of_plan(plan: Plan, name: str, before: Loop | None = None) -> Draft:
    """`name`: of the file. `before`: the loop that is aligned again."""
    ids = _ids(plan, before)
    return Draft(
        goal=plan.title,
        definition_of_done=_definition(plan, name),
        atoms=tuple(
            DraftAtom(id=ids[piece.label], description=piece.text, depends_on=tuple(ids[need] for need in piece.needs))
            for piece in plan.pieces
        ),
    )


def covering(draft: Draft, plan: Plan) -> Draft:
    """A draft with the atoms of this plan: what the plan says of a piece and the base case says, too, decides it."""
    return with_covers(draft, stated(draft, {place: piece.criteria for place, piece in enumerate(plan.pieces)}))


def _ids(plan: Plan, before: Loop | None) -> dict[str, str]:
    known = before.atoms if before is not None else []
    same = {atom.description: atom.id for atom in reversed(known)}
    number = highest_number(atom.id for atom in known)
    ids: dict[str, str] = {}
    for piece in plan.pieces:
        found = same.pop(piece.text, None)
        number += found is None
        ids[piece.label] = found if found is not None else f"A{number}"
    return ids


def _definition(plan: Plan, name: str) -> str:
    lines = [f"- {piece.label}: {criterion}" for piece in plan.pieces for criterion in piece.criteria]
    if not lines:
        return ""
    more = len(lines) - MOST_CRITERIA
    shown = lines[:MOST_CRITERIA] + ([f"- and {more} more, with the atoms"] if more > 0 else [])
    return "\n".join([f"All of {name}:", *shown])
