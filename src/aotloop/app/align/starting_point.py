"""Where an alignment begins: the loop there is, upon it an imported plan, then a draft; and a person's request."""

from __future__ import annotations

from pathlib import PurePath

import msgspec

from aotloop.app.align.draft import OF_GRAPH, Draft, draft_of, over, without_graph
from aotloop.app.align.imported_plan import covering, draft_of_plan
from aotloop.core.model import Loop
from aotloop.errors import StateFileBusy, StateFileMissing
from aotloop.importers.plan import Plan
from aotloop.statefile.locate import find_state_file, new_state_file


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
    before: Loop | None, said: Draft, *, request: str = "", plan: Plan | None = None, plan_name: str = ""
) -> StartingPoint:
    """`plan_name`: of the file that the plan was imported from."""
    present = draft_of(before) if before is not None else Draft()
    if plan is None:
        return StartingPoint(draft=over(present, said), before=before, request=request)
    imported = draft_of_plan(plan, PurePath(plan_name).name, before)
    present = over(imported, without_graph(present))  # what was agreed on in words says more than a heading
    background = "\n\n".join(filter(None, (plan.title, plan.background)))
    return StartingPoint(
        draft=covering(over(present, said), plan),
        before=before,
        request="\n\n".join(filter(None, (request, background))),
        warnings=plan.warnings,
        finished=len(plan.finished),
    )


def is_graph_without_atoms(draft: Draft) -> bool:
    """Groups or decompositions alone say nothing."""
    return not draft.atoms and any(getattr(draft, part) for part in OF_GRAPH)


def refuse_running(before: Loop | None) -> None:
    """For a session: the loop that it works on is not aligned again under its hands."""
    if before is not None and before.control.status == "running":
        raise StateFileBusy(
            "the loop runs, so it is not aligned again",
            hint="/aot-loop:redirect changes its direction, /aot-loop:exit-recursion ends it.",
        )
