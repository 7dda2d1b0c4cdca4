"""Where an alignment begins: the present loop, an imported plan over it, then a draft; and a person's request."""

from __future__ import annotations

from pathlib import PurePath

import msgspec

from aotloop.app.align.coverage import stated, with_covers
from aotloop.app.align.draft import OF_GRAPH, Draft, DraftAtom, draft_of, over, without_graph
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.model import Loop
from aotloop.errors import StateFileBusy, StateFileMissing
from aotloop.importers.plan import Plan
from aotloop.statefile.locate import find_state_file, new_state_file

MOST_CRITERIA = 40
"""Lines. The rest is in the descriptions of the atoms."""


class StartingPoint(msgspec.Struct, frozen=True, kw_only=True):
    draft: Draft
    before: Loop | None = None
    """The loop that is aligned again."""
    request: str = ""
    """In a person's words."""
    answers: tuple[tuple[str, str], ...] = ()
    """What the person answered to an agent's questions before."""
    warnings: tuple[str, ...] = ()
    finished: int = 0
    """How many pieces of an imported plan were done already, and left out."""


def place_of(state_file: str | None) -> str:
    """The loop that is found from here is aligned again; else a new loop is made here."""
    try:
        return find_state_file(state_file)
    except StateFileMissing:
        return new_state_file(state_file)


def start_from(
    before: Loop | None, stated: Draft, *, request: str = "", plan: Plan | None = None, plan_name: str = ""
) -> StartingPoint:
    """`plan_name`: of the file that the plan was imported from."""
    present = draft_of(before) if before is not None else Draft()
    if plan is None:
        return StartingPoint(draft=over(present, stated), before=before, request=request)
    imported = draft_of_plan(plan, PurePath(plan_name).name, before)
    present = over(imported, without_graph(present))  # an agreed text says more than a heading
    background = "\n\n".join(filter(None, (plan.title, plan.background)))
    return StartingPoint(
        draft=covering(over(present, stated), plan),
        before=before,
        request="\n\n".join(filter(None, (request, background))),
        warnings=plan.warnings,
        finished=len(plan.finished),
    )


def is_graph_without_atoms(draft: Draft) -> bool:
    """Groups or decompositions alone say nothing."""
    return not draft.atoms and any(getattr(draft, part) for part in OF_GRAPH)


def refuse_running(before: Loop | None) -> None:
    """For a session: it must not align the loop again on which it works."""
    if before is not None and before.control.status == "running":
        raise StateFileBusy(
            "the loop runs, so it is not aligned again",
            hint="/aot-loop:redirect changes its direction, /aot-loop:exit-recursion ends it.",
        )


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
    """A draft with the atoms of this plan. An item of the base case that the plan has too is the check of its atom."""
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
