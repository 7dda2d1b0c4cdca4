"""An imported plan becomes a draft: its pieces are the atoms, in order; its criteria, in words, say when it is done."""

from __future__ import annotations

from aotloop.alignment.draft import Draft, DraftAtom
from aotloop.imports import Plan

MOST_CRITERIA = 40
"""Lines. What follows is with the atoms all the same."""


def draft_of_plan(plan: Plan, name: str) -> Draft:
    ids = {piece.label: f"A{number}" for number, piece in enumerate(plan.pieces, 1)}
    return Draft(
        goal=plan.title,
        definition_of_done=_definition(plan, name),
        atoms=tuple(
            DraftAtom(id=ids[piece.label], description=piece.text, depends_on=tuple(ids[one] for one in piece.needs))
            for piece in plan.pieces
        ),
    )


def _definition(plan: Plan, name: str) -> str:
    lines = [f"- {piece.label}: {one}" for piece in plan.pieces for one in piece.criteria]
    if not lines:
        return ""
    more = len(lines) - MOST_CRITERIA
    shown = lines[:MOST_CRITERIA] + ([f"- and {more} more, with the atoms"] if more > 0 else [])
    return "\n".join([f"All of {name}:", *shown])
