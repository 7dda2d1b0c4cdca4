"""Corrections: how a person changes the direction of a loop. Each kind says what it resets and what it records.

| correction           | recorded as       | the trail                       | reset                                |
| -------------------- | ----------------- | ------------------------------- | ------------------------------------ |
| ObjectiveCorrected   | objective_change  | cleared                         | verdict, failures, counters, covers  |
| Realigned            | objective_change  | cleared                         | the same; what is not asked for      |
| ConstraintsCorrected | constraint_change | kept                            | nothing                              |
| ScopeExtended        | dag_adjustment    | a user_correction is added      | nothing                              |
| ScopeReduced         | dag_adjustment    | a user_correction is added      | what names the atom forgets it       |
| ChoiceForced         | dag_adjustment    | a user_correction is added      | the left choice, what is built on it |
| BindingOverridden    | bindings_override | what is about the affected goes | what is built on the atom            |
| RetryGranted         | dag_adjustment    | a user_correction is added      | the atom's failures; more attempts   |

Every correction also ends running work (its results no longer count), sets the stalls to zero for the new direction,
and is kept in `corrections`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.checks.checklist import item_names, problems_of_base_case
from aotloop.core.effects import Effect, Resolved, Revert
from aotloop.core.findings import Finding
from aotloop.core.graph.board import Board
from aotloop.core.handlers.graph_corrections import extend, force, grant_retry, override, reduce, reset, undo
from aotloop.core.handlers.parents import resolve_parents, settle_parent
from aotloop.core.handlers.realignment import replace_graph
from aotloop.core.handlers.repairs import has_contributed
from aotloop.core.limits import problems_of_constraints
from aotloop.core.measure import shares_of
from aotloop.core.model import Correction, CorrectionType, Generation, Loop
from aotloop.core.transitions import illegal


def correct(board: Board, event: events.Corrected) -> list[Effect]:
    """Works on a copy, so a correction that is refused changes nothing."""
    loop = board.loop
    corrected = loop.snapshot()
    kind, change = _CHANGES[type(event)]
    entries = len(loop.trail)
    change(corrected, event)
    _end_what_is_under_way(corrected)
    is_cleared = len(corrected.trail) < entries
    corrected.corrections.append(
        Correction(timestamp=event.at, type=kind, description=event.description, trail_cleared=is_cleared)
    )
    effects = _settle_parents(corrected)
    kept = {atom.id for atom in corrected.atoms if has_contributed(atom)}
    undone = [atom.id for atom in loop.atoms if has_contributed(atom) and atom.id not in kept]
    if undone:
        effects.append(Revert(atoms=tuple(undone)))
    for name in Loop.__struct_fields__:
        setattr(loop, name, getattr(corrected, name))
    board.rebuild()
    return effects


def _settle_parents(loop: Loop) -> list[Effect]:
    """A parent whose last unresolved child was removed has nothing left to wait for."""
    effects: list[Effect] = []
    board = Board(loop)
    for parent in list(board.children_of):
        for effect in settle_parent(board, parent):
            effects += [effect, *(resolve_parents(board, parent) if isinstance(effect, Resolved) else [])]
    return effects


def _end_what_is_under_way(loop: Loop) -> None:
    reset(loop, [atom.id for atom in loop.atoms if atom.status == "in_progress"], keep_attempts=True)
    control = loop.control
    loop.control = replace(
        control,
        redirect_requested=False,
        stall_count=0,
        epoch=control.epoch + 1,
        generation=Generation(),
        fewest_unresolved=None if control.fewest_unresolved is None else Board(loop).unresolved_count(),
    )


# --- kinds of correction ----------------------------------------------------------------------------------------------


def _objective(loop: Loop, event: events.ObjectiveCorrected | events.Realigned) -> None:
    _refuse_errors(event, problems_of_base_case(event.objective.base_case, ("base_case",)))
    _refuse_errors(event, problems_of_constraints(event.objective.constraints, ("constraints",)))
    loop.objective = event.objective
    loop.trail = []
    loop.or_groups = {
        name: replace(group, failed=(), blamed={}, round=0, seen=(), blames={}, hints={})
        for name, group in loop.or_groups.items()
    }
    items = set(item_names(event.objective.base_case))
    loop.atoms = [
        replace(
            atom, attempts=0, failures=0, alike=0, partial=False, covers=tuple(filter(items.__contains__, atom.covers))
        )
        for atom in loop.atoms
    ]
    status = "pending" if loop.control.status == "completed" else loop.control.status
    loop.control = replace(
        loop.control,
        status=status,
        iteration=0,
        prev_pending_count=-1,
        verdict=None,
        tried=0,
        won=0,
        needed=0,
        shares=None if status == "pending" else shares_of(loop),
    )


def _realign(loop: Loop, event: events.Realigned) -> None:
    _objective(loop, event)
    replace_graph(loop, event)


def _constraints(loop: Loop, event: events.ConstraintsCorrected) -> None:
    _refuse_errors(event, problems_of_constraints(event.constraints, ("constraints",)))
    loop.objective = replace(loop.objective, constraints=event.constraints)


def _refuse_errors(event: events.Corrected, findings: Iterable[Finding]) -> None:
    for finding in findings:
        if finding.level == "error":
            raise illegal(None, event, str(finding))


_CHANGES: dict[type[events.Corrected], tuple[CorrectionType, Callable[[Loop, Any], None]]] = {
    events.ObjectiveCorrected: ("objective_change", _objective),
    events.Realigned: ("objective_change", _realign),
    events.ConstraintsCorrected: ("constraint_change", _constraints),
    events.ScopeExtended: ("dag_adjustment", extend),
    events.ScopeReduced: ("dag_adjustment", reduce),
    events.ChoiceForced: ("dag_adjustment", force),
    events.BindingOverridden: ("bindings_override", override),
    events.WorkUndone: ("dag_adjustment", undo),
    events.RetryGranted: ("dag_adjustment", grant_retry),
}
