"""A draft is what has been said so far about a loop that is to be agreed on. Nothing here decides whether it is enough.

Field names are the keys of the file it is written in. What was not said is None, blank or empty.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.core.checks.checklist import item_names
from aotloop.core.model import AtomCheck, AtomStatus, BaseCase, Constraints, Decomposition, Duration, Loop

WORDS = ("goal", "background_intent", "deliverables", "definition_of_done")
OF_GRAPH = ("atoms", "or_groups", "decompositions")


class DraftAtom(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None = None
    """None: one is allotted."""
    description: str
    depends_on: tuple[str, ...] = ()
    or_group: str | None = None
    run: str | None = None
    check: AtomCheck | None = None
    covers: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    probe: bool = False
    agent: str | None = None
    timeout: Duration | None = None
    estimate: float | None = None
    status: AtomStatus | None = None
    """Accepted so that an atom can be copied from a state file. It has no effect: the state file knows what is done."""


class DraftGroup(msgspec.Struct, frozen=True, kw_only=True):
    choices: tuple[str, ...] = ()
    """Empty: all atoms that name the group."""
    selected: str | None = None
    """None: the choice that was selected before, or the first."""
    speculative: bool = False
    failed: tuple[str, ...] = ()
    """Like `status` of an atom: it is accepted, and has no effect."""


class DraftObjective(msgspec.Struct, frozen=True, kw_only=True):
    """All of a draft that is not the graph."""

    goal: str = ""
    background_intent: str = ""
    deliverables: str = ""
    definition_of_done: str = ""
    base_case: BaseCase | None = None
    protect: tuple[str, ...] | None = None
    constraints: Constraints | None = None


class Draft(DraftObjective, frozen=True, kw_only=True):
    atoms: tuple[DraftAtom, ...] = ()
    or_groups: dict[str, DraftGroup] = {}
    decompositions: tuple[Decomposition, ...] = ()


def over(below: Draft, above: Draft) -> Draft:
    """The values of `above`; where it has none, those of `below`. A graph is taken whole or not at all."""
    values = {
        name: value for name in (*WORDS, "base_case", "protect", "constraints") if (value := getattr(above, name))
    }
    if above.protect is not None:  # also that nothing is protected any more
        values["protect"] = above.protect
    if above.atoms:
        values |= {name: getattr(above, name) for name in OF_GRAPH}
    elif above.base_case is not None:
        values["atoms"] = covering_only(below.atoms, above.base_case)
    return replace(below, **values)


def covering_only(atoms: tuple[DraftAtom, ...], base_case: BaseCase) -> tuple[DraftAtom, ...]:
    """Removes items that the base case does not have any more."""
    items = set(item_names(base_case))
    return tuple(replace(atom, covers=tuple(item for item in atom.covers if item in items)) for atom in atoms)


def without_graph(draft: Draft) -> Draft:
    return replace(draft, atoms=(), or_groups={}, decompositions=())


def draft_of(loop: Loop) -> Draft:
    """The draft of the last agreement. It does not contain pending repairs of earlier failures."""
    objective = loop.objective
    dropped = {atom.id for atom in loop.atoms if atom.repairs is not None and atom.status != "resolved"}
    return Draft(
        **{name: getattr(objective, name) for name in WORDS},
        base_case=objective.base_case,
        protect=objective.protect,
        constraints=objective.constraints,
        atoms=tuple(
            DraftAtom(
                id=atom.id,
                description=atom.description,
                depends_on=tuple(dependency for dependency in atom.depends_on if dependency not in dropped),
                or_group=atom.or_group,
                run=atom.run,
                check=atom.check,
                covers=atom.covers,
                touches=atom.touches,
                probe=atom.probe,
                agent=atom.agent,
                timeout=atom.timeout,
                estimate=atom.estimate,
            )
            for atom in loop.atoms
            if atom.id not in dropped
        ),
        or_groups={
            name: DraftGroup(choices=group.choices, selected=group.selected, speculative=group.speculative)
            for name, group in loop.or_groups.items()
        },
        decompositions=tuple(loop.decompositions),
    )
