"""Realignment: a new graph replaces the present one, and results that are still wanted stay.

A resolved atom stays resolved, with its result, if the new graph has the same id with the same words, and if everything
it builds on stays too. The loop waits to be started, like a new loop: what it has spent belongs to the old agreement.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.events import Realigned
from aotloop.core.graph.work_graph import Graph
from aotloop.core.invariants import findings_of
from aotloop.core.model import Atom, Control, Loop, OrGroup
from aotloop.core.transitions import illegal

_WORDS = ("description", "run", "check", "or_group")
"""The fields that identify the work of an atom. Not `covers`: the base case checks it and reopens the atom."""


def replace_graph(loop: Loop, event: Realigned) -> None:
    before, bindings = {atom.id: atom for atom in loop.atoms}, loop.bindings
    loop.atoms = [_fresh(atom, before.get(atom.id)) for atom in event.atoms]
    loop.decompositions = list(event.decompositions)
    loop.or_groups = dict(event.or_groups)
    loop.bindings = {}
    _refuse_errors(loop, event)
    _keep_what_stands(loop)
    resolved = {atom.id for atom in loop.atoms if atom.status == "resolved"}
    loop.bindings = {atom_id: binding for atom_id, binding in bindings.items() if atom_id in resolved}
    loop.or_groups = {name: _settled(group, resolved) for name, group in loop.or_groups.items()}
    loop.control = _as_new(loop.control)


def _fresh(wanted: Atom, before: Atom | None) -> Atom:
    """The atom stays resolved unless something contradicts it."""
    is_done = before is not None and before.status == "resolved"
    is_same = is_done and all(getattr(before, name) == getattr(wanted, name) for name in _WORDS)
    return replace(wanted, status="resolved" if is_same else "pending", attempts=0, failures=0, alike=0, partial=False)


def _keep_what_stands(loop: Loop) -> None:
    graph = Graph(loop)
    for atom_id in reversed(graph.consumers_first):
        if graph.waits_for(atom_id):
            graph.atoms[atom_id] = replace(graph.atoms[atom_id], status="pending")
    loop.atoms = [graph.atoms[atom.id] for atom in loop.atoms]


def _settled(group: OrGroup, resolved: set[str]) -> OrGroup:
    """A race that was won is not run again while its winner stays."""
    won = group.selected if group.speculative and group.selected in resolved else None
    return replace(group, failed=(), blamed={}, round=0, seen=(), blames={}, hints={}, won=won)


def _as_new(control: Control) -> Control:
    return Control(
        status="pending",
        iteration=0,
        stall_count=0,
        prev_pending_count=-1,
        stop_requested=False,
        redirect_requested=False,
        epoch=control.epoch,
    )


def _refuse_errors(loop: Loop, event: Realigned) -> None:
    """Checks the loop in its final form, before any atom is resolved: so no parent counts as resolved too early."""
    judged = loop.snapshot()
    judged.atoms = [replace(atom, status="pending") for atom in loop.atoms]
    judged.control = _as_new(loop.control)
    for finding in findings_of(judged):
        if finding.level == "error":
            raise illegal(None, event, str(finding))
