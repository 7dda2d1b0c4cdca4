"""The proposal of a planner becomes a draft. It brings no command that does an atom: only a person gives those."""

from __future__ import annotations

from aotloop.agents.answers.answer_schema import Plan, PlannedAtom, PlannedCheck
from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.model import BaseCase, Check, ChecklistItem

DEFAULT_THRESHOLD = 3.0
"""The least mean score of a judged item, from 1 to 5, until the person sets another."""


def draft_of_proposal(plan: Plan, present: Draft) -> Draft:
    """An atom by the name of one that is there has its id, and, in the same words, its command and check.

    What is protected stays so; only a person takes that back.
    """
    there = {atom.id: atom for atom in present.atoms if atom.id is not None}
    ids = _ids([atom.name for atom in plan.atoms], set(there))
    labels = [atom.or_group for atom in plan.atoms]
    return Draft(
        goal=plan.goal,
        background_intent=plan.background_intent,
        deliverables=plan.deliverables,
        definition_of_done=plan.definition_of_done,
        base_case=BaseCase(checklist=tuple(_item(check, _structured(present)) for check in plan.checklist)),
        protect=plan.protect or None,
        atoms=tuple(
            _atom(atom, ids, there.get(ids[atom.name]), is_choice=labels.count(atom.or_group) > 1)
            for atom in plan.atoms
        ),
    )


def _ids(names: list[str], there: set[str]) -> dict[str, str]:
    number = highest_number([*there, *names])
    ids: dict[str, str] = {}
    for name in names:
        number += name not in there
        ids[name] = name if name in there else f"A{number}"
    return ids


def _atom(atom: PlannedAtom, ids: dict[str, str], there: DraftAtom | None, *, is_choice: bool) -> DraftAtom:
    same = there if there is not None and there.description == atom.description else None
    return DraftAtom(
        id=ids[atom.name],
        description=atom.description,
        depends_on=tuple(ids[dependency] for dependency in atom.depends_on),
        or_group=atom.or_group if is_choice else None,
        touches=atom.touches,
        estimate=atom.estimate,
        run=same.run if same is not None else None,
        check=same.check if same is not None else None,
        covers=atom.covers or (same.covers if same is not None else ()),
    )


def _structured(present: Draft) -> dict[str, ChecklistItem]:
    """Items that say more than a planner can: it keeps them by naming them."""
    items = present.base_case.checklist or () if present.base_case is not None else ()
    return {item.item: item for item in items if item.check is None or item.check.rubric is not None}


def _item(check: PlannedCheck, structured: dict[str, ChecklistItem]) -> ChecklistItem:
    if check.item in structured:
        return structured[check.item]
    if check.type == "quality":
        judged = Check(type="quality", criteria=check.value, pass_threshold=DEFAULT_THRESHOLD)
        return ChecklistItem(item=check.item, check=judged)
    return ChecklistItem(item=check.item, check=Check(type=check.type, value=check.value))
