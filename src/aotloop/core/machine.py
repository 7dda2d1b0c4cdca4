"""`advance` is the only code that changes a loop. It takes a fact, and returns what it wants done about it.

An event that is impossible in the present state raises IllegalEvent, naming event, atom and state, and changes nothing:
everything is checked before the first assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Added, Effect, Resolved
from aotloop.core.failure import fail, switch
from aotloop.core.graph import Graph
from aotloop.core.growth import add_atom, decompose
from aotloop.core.illegal import illegal
from aotloop.core.model import Atom, Binding, Loop, TrailEntry
from aotloop.core.objective import digest_of
from aotloop.core.parents import resolve_parent, resolve_parents
from aotloop.core.redirect import correct
from aotloop.core.transitions import ATOM, LOOP, AtomMove, LoopMove


def advance(loop: Loop, event: events.Event) -> list[Effect]:
    return _HANDLERS[type(event)](loop, event)


# --- atoms -------------------------------------------------------------------------------------------------------


def _start(loop: Loop, event: events.AtomStarted) -> list[Effect]:
    graph = Graph(loop)
    atom = _atom(graph, event, event.atom)
    moved = _moved(loop, event, atom, "start")
    if atom.status == "pending" and (why := graph.why_not_ready(atom.id)) is not None:
        raise illegal(loop, event, why, atom.id)
    loop.atoms[graph.position[atom.id]] = moved
    return []


def _resolve(loop: Loop, event: events.AtomResolved) -> list[Effect]:
    graph = Graph(loop)
    atom = _atom(graph, event, event.atom)
    if atom.id in graph.children_of and atom.status == "pending":
        if waiting := graph.waits_for(atom.id):
            raise illegal(loop, event, f"it waits for {', '.join(waiting)}", atom.id)
        resolve_parent(loop, graph, atom.id)
        if event.summary is not None:
            loop.bindings[atom.id] = Binding(summary=event.summary, artifacts=event.artifacts)
        return [Resolved(atom=atom.id), *resolve_parents(loop, atom.id)]
    moved = _moved(loop, event, atom, "resolve")
    if graph.is_unselected(atom.id) and graph.satisfied(atom.id):
        settled = f"{graph.group_of[atom.id]} is settled by another choice; a late result does not count"
        raise illegal(loop, event, settled, atom.id)
    if event.summary is not None:
        loop.bindings[atom.id] = Binding(summary=event.summary, artifacts=event.artifacts)
    if atom.status == "resolved":
        return []
    loop.atoms[graph.position[atom.id]] = moved
    _settle_race(loop, graph, event)
    return resolve_parents(loop, atom.id)


def _settle_race(loop: Loop, graph: Graph, event: events.AtomResolved) -> None:
    """The first racer to be resolved is the one selected; whoever still runs has run for nothing."""
    winner, group = event.atom, graph.group(event.atom)
    if group is None or not group.speculative:
        return
    if group.selected != winner:
        name = graph.group_of[winner]
        loop.trail.append(
            TrailEntry(or_group=name, selected=winner, reason=f"{winner} was resolved first", timestamp=event.at)
        )
        loop.or_groups[name] = replace(group, selected=winner)
    for other in group.choices:
        if other != winner and other in graph.atoms and graph.atoms[other].status == "in_progress":
            loop.atoms[graph.position[other]] = replace(graph.atoms[other], status="pending")
            loop.bindings.pop(other, None)


def _abandon(loop: Loop, event: events.AtomAbandoned) -> list[Effect]:
    graph = Graph(loop)
    atom = _atom(graph, event, event.atom)
    moved = _moved(loop, event, atom, "abandon")
    loop.atoms[graph.position[atom.id]] = moved
    if atom.status == "in_progress":
        loop.bindings.pop(atom.id, None)
    return []


def _fail(loop: Loop, event: events.AtomFailed) -> list[Effect]:
    graph = Graph(loop)
    atom = _atom(graph, event, event.atom)
    checked_parent = atom.id in graph.children_of and atom.status == "pending" and not graph.waits_for(atom.id)
    if not checked_parent:
        _moved(loop, event, atom, "fail")
    return fail(loop, graph, event)


def _bind(loop: Loop, event: events.BindingWritten) -> list[Effect]:
    atom = _atom(Graph(loop), event, event.atom)
    if atom.status == "pending":
        raise illegal(loop, event, f"{atom.id} is pending: only work that was begun has a result", atom.id)
    loop.bindings[atom.id] = Binding(summary=event.summary, artifacts=event.artifacts)
    return []


# --- the graph ---------------------------------------------------------------------------------------------------


def _add(loop: Loop, event: events.AtomAdded) -> list[Effect]:
    return [Added(atoms=(add_atom(loop, event),))]


def _decompose(loop: Loop, event: events.AtomDecomposed) -> list[Effect]:
    return [Added(atoms=decompose(loop, event))]


def _switch(loop: Loop, event: events.BranchSwitched) -> list[Effect]:
    return switch(loop, Graph(loop), event)


# --- the loop ----------------------------------------------------------------------------------------------------


def _start_loop(loop: Loop, event: events.LoopStarted) -> list[Effect]:
    status = _loop_moved(loop, event, "start")
    if status != loop.control.status:
        loop.control = replace(loop.control, status=status, stop_requested=False, stop_reason=None)
    return []


def _stop_loop(loop: Loop, event: events.LoopStopped) -> list[Effect]:
    status = _loop_moved(loop, event, "stop")
    if status == loop.control.status:
        return []
    reason = event.reason if event.reason is not None else loop.control.stop_reason
    loop.control = replace(loop.control, status=status, stop_reason=reason)
    return []


def _request_stop(loop: Loop, event: events.StopRequested) -> list[Effect]:
    if loop.control.status == "stopped":
        return []
    if loop.control.status != "running":
        raise illegal(loop, event, f"the loop is {loop.control.status}, not running")
    reason = event.reason if event.reason is not None else loop.control.stop_reason
    loop.control = replace(loop.control, stop_requested=True, stop_reason=reason)
    return []


def _record_verdict(loop: Loop, event: events.VerdictReached) -> list[Effect]:
    verdict, last = event.verdict, loop.control.verdict
    if loop.control.status == "completed":  # by the verdict that is there; what is found later does not undo it
        return []
    if last is not None and last.objective_digest == verdict.objective_digest:
        counts = [len(verdict.failing), last.fewest_failing]
        verdict = replace(
            verdict,
            fewest_failing=min(count for count in counts if count is not None),
            repair_rounds=last.repair_rounds,
        )
    else:
        verdict = replace(verdict, fewest_failing=len(verdict.failing))
    loop.control = replace(loop.control, verdict=verdict)
    return []


def _complete_loop(loop: Loop, event: events.LoopCompleted) -> list[Effect]:
    status = _loop_moved(loop, event, "complete")
    verdict = loop.control.verdict
    if status != loop.control.status:
        if verdict is None or not verdict.passed:
            raise illegal(loop, event, "no passing verdict is recorded; only a verified base case completes a loop")
        if verdict.objective_digest != digest_of(loop.objective) or verdict.commit != event.commit:
            raise illegal(loop, event, "the verdict is of another objective or another commit; verify again")
        loop.control = replace(loop.control, status=status, stop_reason=None)
    return []


# --- a person's corrections --------------------------------------------------------------------------------------


def _request_redirect(loop: Loop, event: events.RedirectRequested) -> list[Effect]:
    if loop.control.status not in ("running", "stopped"):
        raise illegal(loop, event, f"the loop is {loop.control.status}; only a running or stopped loop is redirected")
    loop.control = replace(loop.control, redirect_requested=True)
    return []


# --- what all of them use ----------------------------------------------------------------------------------------


def _atom(graph: Graph, event: events.Event, atom_id: str) -> Atom:
    atom = graph.atoms.get(atom_id)
    if atom is None:
        raise illegal(None, event, f"there is no atom {atom_id}; there are: {', '.join(list(graph.atoms)[:10])}")
    return atom


def _moved(loop: Loop, event: events.Event, atom: Atom, move: AtomMove) -> Atom:
    status = ATOM.get((atom.status, move))
    if status is None:
        allowed = sorted({one for (before, one) in ATOM if before == atom.status and one != "reset"})
        raise illegal(loop, event, f"{atom.id} is {atom.status}; it allows: {', '.join(allowed)}", atom.id)
    return replace(atom, status=status)


def _loop_moved(loop: Loop, event: events.Event, move: LoopMove) -> Any:
    status = LOOP.get((loop.control.status, move))
    if status is None:
        allowed = sorted({one for (before, one) in LOOP if before == loop.control.status})
        raise illegal(loop, event, f"the loop is {loop.control.status}; it allows: {', '.join(allowed)}")
    return status


_HANDLERS: dict[type[events.Event], Callable[[Loop, Any], list[Effect]]] = {
    events.AtomStarted: _start,
    events.AtomResolved: _resolve,
    events.AtomAbandoned: _abandon,
    events.AtomFailed: _fail,
    events.BindingWritten: _bind,
    events.AtomAdded: _add,
    events.AtomDecomposed: _decompose,
    events.BranchSwitched: _switch,
    events.LoopStarted: _start_loop,
    events.LoopStopped: _stop_loop,
    events.StopRequested: _request_stop,
    events.VerdictReached: _record_verdict,
    events.LoopCompleted: _complete_loop,
    events.RedirectRequested: _request_redirect,
    **dict.fromkeys(events.Corrected.__subclasses__(), correct),
}
