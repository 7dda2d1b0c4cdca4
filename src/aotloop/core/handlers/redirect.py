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
from aotloop.core.checklist import item_names, problems_of_base_case
from aotloop.core.effects import Effect, Resolved, Revert
from aotloop.core.findings import Finding
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.handlers.growth import add_atom
from aotloop.core.handlers.parents import resolve_parents, settle_parent
from aotloop.core.handlers.realignment import replace_graph
from aotloop.core.handlers.repairs import forget_rounds, has_contributed, repairs_of
from aotloop.core.limits import problems_of_constraints
from aotloop.core.measure import shares_of
from aotloop.core.model import Binding, Correction, CorrectionType, Generation, Loop, OrGroup, TrailEntry
from aotloop.core.objective import outdate_verdict
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
    _reset(loop, [atom.id for atom in loop.atoms if atom.status == "in_progress"], keep_attempts=True)
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


def _extend(loop: Loop, event: events.ScopeExtended) -> None:
    atom_id = add_atom(Board(loop), event.added)
    _grant_share(loop)
    _note(loop, event, atom=atom_id, or_group=event.added.or_group)


def _reduce(loop: Loop, event: events.ScopeReduced) -> None:
    graph = Graph(loop)
    _refuse_removal(loop, graph, event)
    _note(loop, event, atom=event.atom, or_group=graph.group_of.get(event.atom))
    loop.atoms = [
        replace(atom, depends_on=_without(atom.depends_on, event.atom)) for atom in loop.atoms if atom.id != event.atom
    ]
    loop.decompositions = [
        replace(split, children=_without(split.children, event.atom)) for split in loop.decompositions
    ]
    loop.decompositions = [split for split in loop.decompositions if split.children]
    name = graph.group_of.get(event.atom)
    if name is not None:
        _take_choice_out(loop, name, event.atom)
    loop.bindings.pop(event.atom, None)


def _take_choice_out(loop: Loop, name: str, choice: str) -> None:
    group = loop.or_groups[name]
    left = _without(group.choices, choice)
    known = {atom.id for atom in loop.atoms}
    if not any(other in known for other in left):
        del loop.or_groups[name]
        return
    freed = _freed(group, choice)
    selected = group.selected
    if selected == choice:
        possible = [other for other in left if other in known]
        selected = next(
            (other for other in possible if other not in freed.failed and other not in freed.blamed), possible[0]
        )
    if selected in freed.failed or selected in freed.blamed:  # all had their turn: another round
        freed = replace(freed, failed=(), blamed={}, round=freed.round + 1)
    loop.or_groups[name] = replace(freed, choices=left, selected=selected)


def _force(loop: Loop, event: events.ChoiceForced) -> None:
    graph = Graph(loop)
    group = loop.or_groups.get(event.or_group)
    if group is None:
        raise illegal(None, event, f"there is no group {event.or_group}; there are: {_listed(loop.or_groups)}")
    if event.choice not in group.choices or event.choice not in graph.atoms:
        known = _listed(choice for choice in group.choices if choice in graph.atoms)
        raise illegal(None, event, f"{event.choice} cannot be chosen for {event.or_group}; there are: {known}")
    _note(loop, event, or_group=event.or_group, selected=event.choice)
    seen = group.seen if event.choice in (*group.seen, group.choices[0]) else (*group.seen, event.choice)
    loop.or_groups[event.or_group] = replace(_freed(group, event.choice), selected=event.choice, seen=seen)
    if group.selected != event.choice:
        parts = {group.selected} | graph.descendants(group.selected)
        affected = parts | graph.built_on(parts)
        _reset(loop, affected)
        board = Board(loop)
        take_out(board, set(repairs_of(board, affected)))
        forget_rounds(loop)
    _reset(loop, [event.choice] if graph.atoms[event.choice].status != "resolved" else [])


def _override(loop: Loop, event: events.BindingOverridden) -> None:
    graph = Graph(loop)
    atom = graph.atoms.get(event.atom)
    if atom is None or atom.status != "resolved":
        status = "no atom" if atom is None else atom.status
        raise illegal(loop, event, f"only a resolved atom has a result to describe; {event.atom} is {status}")
    affected = graph.downstream([event.atom])
    loop.bindings[event.atom] = Binding(summary=event.summary, artifacts=event.artifacts)
    loop.trail = [entry for entry in loop.trail if entry.atom not in affected and entry.selected not in affected]
    _reset(loop, affected)


def _grant_retry(loop: Loop, event: events.RetryGranted) -> None:
    graph = Graph(loop)
    atom = graph.atoms.get(event.atom)
    if atom is None or atom.status == "resolved":
        status = "no atom" if atom is None else "resolved"
        raise illegal(loop, event, f"{event.atom} is {status}; only unresolved atoms are tried again")
    _note(loop, event, atom=event.atom, or_group=graph.group_of.get(event.atom))
    name = graph.group_of.get(event.atom)
    if name is not None:
        group = _freed(loop.or_groups[name], event.atom)
        is_given_up = group.selected in group.failed or group.selected in group.blamed
        selected = event.atom if is_given_up else group.selected
        loop.or_groups[name] = replace(group, selected=selected)
    _reset(loop, [event.atom], keep=True)
    _grant_share(loop)


def _undo(loop: Loop, event: events.WorkUndone) -> None:
    """A completed loop whose work is gone is not complete any more: its verdict was about other files."""
    graph = Graph(loop)
    undone = [name for name in event.atoms if name in graph.atoms]
    _reset(loop, {*undone, *graph.downstream(undone)})
    if loop.control.status == "completed":
        loop.control = replace(loop.control, status="stopped", stop_reason=f"user: {event.description}", verdict=None)


# --- shared steps ---------------------------------------------------------------------------------------------


def _refuse_errors(event: events.Corrected, findings: Iterable[Finding]) -> None:
    for finding in findings:
        if finding.level == "error":
            raise illegal(None, event, str(finding))


def _refuse_removal(loop: Loop, graph: Graph, event: events.ScopeReduced) -> None:
    atom = graph.atoms.get(event.atom)
    if atom is None:
        raise illegal(None, event, f"there is no atom {event.atom}; there are: {_listed(graph.atoms)}")
    if atom.status == "resolved":
        raise illegal(loop, event, f"{event.atom} is resolved; only unresolved work can be taken out", event.atom)
    if event.atom in graph.children_of:
        children = ", ".join(graph.children_of[event.atom])
        raise illegal(loop, event, f"{event.atom} was decomposed into {children}; take those out first", event.atom)
    if len(loop.atoms) == 1:
        raise illegal(loop, event, f"{event.atom} is the only atom; a loop needs at least one", event.atom)


def _reset(loop: Loop, atom_ids: Iterable[str], *, keep_attempts: bool = False, keep: bool = False) -> None:
    """`keep`: the atoms rest on the same choices, so their contributions may stay."""
    ids = set(atom_ids)
    for place, atom in enumerate(loop.atoms):
        if atom.id in ids:
            reset = replace(atom, status="pending")
            if not keep_attempts:
                reset = replace(reset, attempts=0, failures=0, alike=0, partial=False, reopened=reset.reopened and keep)
            loop.atoms[place] = reset
            outdate_verdict(loop, atom, reset)
            loop.bindings.pop(atom.id, None)


def _grant_share(loop: Loop) -> None:
    if loop.control.shares is not None:
        loop.control = replace(loop.control, shares=loop.control.shares + 1)


def _note(loop: Loop, event: events.Corrected, **about: Any) -> None:
    loop.trail.append(TrailEntry(reason=event.description, timestamp=event.at, type="user_correction", **about))


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)


def _freed(group: OrGroup, choice: str) -> OrGroup:
    """The group, without any failure or blame of this choice."""
    blamed, blames, hints = (
        {key: kept for key, kept in held.items() if key != choice} for held in (group.blamed, group.blames, group.hints)
    )
    failed = _without(group.failed, choice)
    return replace(group, failed=failed, blamed=blamed, blames=blames, hints=hints, won=None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:10]) or "none"


_CHANGES: dict[type[events.Corrected], tuple[CorrectionType, Callable[[Loop, Any], None]]] = {
    events.ObjectiveCorrected: ("objective_change", _objective),
    events.Realigned: ("objective_change", _realign),
    events.ConstraintsCorrected: ("constraint_change", _constraints),
    events.ScopeExtended: ("dag_adjustment", _extend),
    events.ScopeReduced: ("dag_adjustment", _reduce),
    events.ChoiceForced: ("dag_adjustment", _force),
    events.BindingOverridden: ("bindings_override", _override),
    events.WorkUndone: ("dag_adjustment", _undo),
    events.RetryGranted: ("dag_adjustment", _grant_retry),
}
