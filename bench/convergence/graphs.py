"""A job as a loop: every unit is an atom, or a group of them, and an item of the base case that its atoms cover."""

from __future__ import annotations

from aotloop.core.model import (
    Atom,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Control,
    Loop,
    Objective,
    OrGroup,
    Verdict,
)
from aotloop.core.objective import digest_of
from bench.convergence.jobs import Job, Unit

COMMIT = "as the gate found it"


def loop_of(job: Job, limits: Constraints, *, checked: bool = True, probed: bool = False) -> Loop:
    """As the gate leaves it: it has found that no item holds. `probed`: a person marked each alternative."""
    objective = Objective(
        goal="The job is done",
        base_case=BaseCase(checklist=tuple(_item(unit) for unit in job.units)),
        background_intent="to see whether it gets done",
        deliverables="every unit",
        definition_of_done="every unit is done in one of its ways",
        constraints=limits,
    )
    failing = tuple(item_of(unit) for unit in job.units)
    return Loop(
        objective=objective,
        control=Control(
            status="pending",
            iteration=0,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
            verdict=Verdict(passed=False, objective_digest=digest_of(objective), at="", failing=failing, commit=COMMIT),
        ),
        atoms=[
            _atom(unit, way, checked=checked, probed=probed) for unit in job.units for way in range(len(unit.possible))
        ],
        or_groups={name: _group(unit) for unit in job.units if (name := group_of(unit)) is not None},
    )


def _item(unit: Unit) -> ChecklistItem:
    return ChecklistItem(item=item_of(unit), check=Check(type="command", value="test"))


def _atom(unit: Unit, way: int, *, checked: bool, probed: bool) -> Atom:
    group = group_of(unit)
    return Atom(
        id=name_of(unit.number, way),
        description=f"do unit {unit.number}",
        status="pending",
        depends_on=tuple(name_of(needed, 0) for needed in unit.needs),
        or_group=group,
        covers=(item_of(unit),) if checked else (),
        probe=probed and group is not None,
    )


def _group(unit: Unit) -> OrGroup:
    choices = tuple(name_of(unit.number, way) for way in range(len(unit.possible)))
    return OrGroup(choices=choices, selected=choices[0])


def item_of(unit: Unit) -> str:
    return f"unit {unit.number}"


def name_of(unit: int, way: int) -> str:
    return f"U{unit}W{way}"


def group_of(unit: Unit) -> str | None:
    return f"ways of {unit.number}" if len(unit.possible) > 1 else None


def way_of(loop: Loop, unit: Unit) -> int:
    name = group_of(unit)
    return 0 if name is None else loop.or_groups[name].choices.index(loop.or_groups[name].selected)


def spoilers_of(loop: Loop, job: Job, unit: Unit) -> list[str]:
    """Selected choices with which this unit cannot be done."""
    ways = [(needed, way_of(loop, job.units[needed])) for needed in unit.needs]
    return [name_of(*one) for one in ways if one in unit.spoiled_by]
