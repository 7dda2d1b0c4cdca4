"""Corrections of the graph: atoms that a person adds, takes out, chooses, describes, tries again or undoes.

`aotloop.core.handlers.redirect` has the table of all corrections, and what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.handlers.growth import add_atom
from aotloop.core.handlers.repairs import forget_rounds, repairs_of
from aotloop.core.measure import limit_after_retry
from aotloop.core.model import Binding, Loop, OrGroup, TrailEntry
from aotloop.core.objective import outdate_verdict
from aotloop.core.transitions import illegal
from aotloop.text.phrases import listed


def extend(loop: Loop, event: events.ScopeExtended) -> None:
    atom_id = add_atom(Board(loop), event.added)
    _grant_share(loop)
    _note(loop, event, atom=atom_id, or_group=event.added.or_group)


def reduce(loop: Loop, event: events.ScopeReduced) -> None:
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


def force(loop: Loop, event: events.ChoiceForced) -> None:
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
        reset(loop, affected)
        board = Board(loop)
        take_out(board, set(repairs_of(board, affected)))
        forget_rounds(loop)
    reset(loop, [event.choice] if graph.atoms[event.choice].status != "resolved" else [])


def override(loop: Loop, event: events.BindingOverridden) -> None:
    graph = Graph(loop)
    atom = graph.atoms.get(event.atom)
    if atom is None or atom.status != "resolved":
        status = "no atom" if atom is None else atom.status
        raise illegal(loop, event, f"only a resolved atom has a result to describe; {event.atom} is {status}")
    affected = graph.downstream([event.atom])
    loop.bindings[event.atom] = Binding(summary=event.summary, artifacts=event.artifacts)
    loop.trail = [entry for entry in loop.trail if entry.atom not in affected and entry.selected not in affected]
    reset(loop, affected)


def grant_retry(loop: Loop, event: events.RetryGranted) -> None:
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
    reset(loop, [event.atom], keep=True)
    constraints = replace(loop.objective.constraints, max_total_attempts=limit_after_retry(loop))
    loop.objective = replace(loop.objective, constraints=constraints)
    _grant_share(loop)


def undo(loop: Loop, event: events.WorkUndone) -> None:
    """A completed loop whose work is gone is not complete any more: its verdict was about other files."""
    graph = Graph(loop)
    undone = [name for name in event.atoms if name in graph.atoms]
    reset(loop, {*undone, *graph.downstream(undone)})
    if loop.control.status == "completed":
        loop.control = replace(loop.control, status="stopped", stop_reason=f"user: {event.description}", verdict=None)


def reset(loop: Loop, atom_ids: Iterable[str], *, keep_attempts: bool = False, keep: bool = False) -> None:
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
    return listed(list(names)) or "none"
