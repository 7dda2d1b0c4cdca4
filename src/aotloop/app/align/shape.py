"""A draft becomes the loop that it describes. It must meet the rules of the state file and of the gate.

Ids that are missing are allotted: that of an atom of the loop before which has the same words, else the next free A<n>.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.app.align.coverage import offered
from aotloop.app.align.draft import WORDS, Draft, DraftAtom, DraftGroup
from aotloop.app.checkout_fence import fenced_checkout
from aotloop.checks.evaluation import Progress
from aotloop.checks.results import Report
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.gate import Gate, gate_of
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.invariants import findings_of
from aotloop.core.model import Atom, BaseCase, Constraints, Control, Loop, Objective, OrGroup

NEW = Control(
    status="pending", iteration=0, stall_count=0, prev_pending_count=-1, stop_requested=False, redirect_requested=False
)


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    loop: Loop
    """The loop, as a new one."""
    gate: Gate
    """Missing or wrong parts, and doubtful ones."""


def shape_of(draft: Draft, before: Loop | None = None) -> Shape:
    """`before`: the loop that is aligned again, if there is one."""
    loop = Loop(objective=objective_of(draft), control=NEW, atoms=[])
    whole = DraftAtom(description=draft.goal, covers=tuple(offered(draft)))
    drafts = _with_ids(draft.atoms or (whole,), before)
    groups = _groups(draft, drafts, before)
    group_of = {choice: name for name, group in groups.items() for choice in group.choices}
    loop.atoms = [_atom(drafted, group_of.get(drafted.id or "")) for drafted in drafts]
    loop.or_groups = groups
    loop.decompositions = list(draft.decompositions)
    return Shape(loop=loop, gate=gate_of(loop, findings_of(loop)))


def objective_of(draft: Draft) -> Objective:
    """It does not decide whether the draft is complete."""
    return Objective(
        **{name: getattr(draft, name) for name in WORDS},
        base_case=draft.base_case if draft.base_case is not None else BaseCase(),
        constraints=draft.constraints if draft.constraints is not None else Constraints(),
        protect=draft.protect or (),
    )


def _with_ids(atoms: tuple[DraftAtom, ...], before: Loop | None) -> list[DraftAtom]:
    taken = {atom.id for atom in atoms if atom.id is not None}
    known = before.atoms if before is not None else []
    by_words = {atom.description: atom.id for atom in reversed(known) if atom.id not in taken}
    fresh = _free_ids(taken | {atom.id for atom in known})
    result = []
    for atom in atoms:
        if atom.id is None:
            found = by_words.pop(atom.description, None)
            result.append(msgspec.structs.replace(atom, id=found if found is not None else next(fresh)))
        else:
            result.append(atom)
    return result


def _free_ids(taken: set[str]) -> Iterator[str]:
    number = highest_number(taken)
    while True:
        number += 1
        yield f"A{number}"


def _groups(draft: Draft, atoms: list[DraftAtom], before: Loop | None) -> dict[str, OrGroup]:
    drafted: dict[str, DraftGroup] = dict(draft.or_groups)
    for atom in atoms:
        if atom.or_group is not None:
            drafted.setdefault(atom.or_group, DraftGroup())
    groups: dict[str, OrGroup] = {}
    for name, group in drafted.items():
        named = tuple(atom.id for atom in atoms if atom.or_group == name and atom.id is not None)
        choices = group.choices or named
        old = before.or_groups.get(name) if before is not None else None
        selected = group.selected or (old.selected if old is not None and old.selected in choices else None)
        first = choices[0] if choices else ""
        groups[name] = OrGroup(choices=choices, selected=selected or first, speculative=group.speculative)
    return groups


def _atom(draft: DraftAtom, group: str | None) -> Atom:
    """A choice that only its group names becomes an atom of the group."""
    return Atom(
        id=draft.id or "",
        description=draft.description,
        status="pending",
        depends_on=draft.depends_on,
        or_group=draft.or_group if draft.or_group is not None else group,
        run=draft.run,
        check=draft.check,
        covers=draft.covers,
        touches=draft.touches,
        probe=draft.probe,
        agent=draft.agent,
        timeout=draft.timeout,
        estimate=draft.estimate,
    )


def run_base_case(shape: Shape, state_file: str, *, timeout: float, on_progress: Progress | None = None) -> Report:
    """Runs it before the person agrees: an item that already holds may prove nothing. Only a program decides here.

    Behind the fence of the base case: the state file need not exist yet.
    """
    objective = shape.loop.objective
    with fenced_checkout(state_file, objective.protect) as checkout:
        return checkout.report(base_case_tree(objective.base_case), timeout=timeout, on_progress=on_progress)
