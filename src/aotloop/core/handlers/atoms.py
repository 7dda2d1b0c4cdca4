"""Events of single atoms: begun, resolved, given up, described, probed."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Effect, Resolved
from aotloop.core.graph.board import Board
from aotloop.core.handlers.backtracking import note_selected
from aotloop.core.handlers.failure import fail, rule_against
from aotloop.core.handlers.parents import resolve_parent, resolve_parents
from aotloop.core.handlers.probes import note_negative
from aotloop.core.model import Atom, Binding, TrailEntry
from aotloop.core.policy.progress import count_attempt, count_resolved, count_won
from aotloop.core.policy.turns import turn
from aotloop.core.transitions import ATOM, AtomMove, illegal


def start(board: Board, event: events.AtomStarted) -> list[Effect]:
    atom = _atom(board, event, event.atom)
    moved = _moved(board, event, atom, "start")
    if atom.status == "pending" and (why := board.why_not_ready(atom.id)) is not None:
        raise illegal(board.loop, event, why, atom.id)
    board.put(moved)
    return []


def resolve(board: Board, event: events.AtomResolved) -> list[Effect]:
    atom = _atom(board, event, event.atom)
    if atom.id in board.children_of and atom.status == "pending":
        return _resolve_parent(board, event, atom)
    moved = _moved(board, event, atom, "resolve")
    if board.is_unselected(atom.id) and board.satisfied(atom.id):
        settled = f"{board.group_of[atom.id]} is settled by another choice; a late result does not count"
        raise illegal(board.loop, event, settled, atom.id)
    if event.summary is not None:
        board.loop.bindings[atom.id] = Binding(summary=event.summary, artifacts=event.artifacts)
    if atom.status == "resolved":
        return []
    count_attempt(board.loop)
    count_won(board.loop, atom)
    board.patience_changed()
    board.put(replace(moved, attempts=0, alike=0, partial=False, reopened=False))
    if event.commit is not None:
        board.loop.control = replace(board.loop.control, last_sha=event.commit)
    count_resolved(board.loop, moved)
    _settle_race(board, event)
    return resolve_parents(board, atom.id)


def _resolve_parent(board: Board, event: events.AtomResolved, parent: Atom) -> list[Effect]:
    if waiting := board.waits_for(parent.id):
        raise illegal(board.loop, event, f"it waits for {', '.join(waiting)}", parent.id)
    resolve_parent(board, parent.id)
    if event.summary is not None:
        board.loop.bindings[parent.id] = Binding(summary=event.summary, artifacts=event.artifacts)
    return [Resolved(atom=parent.id), *resolve_parents(board, parent.id)]


def _settle_race(board: Board, event: events.AtomResolved) -> None:
    """The first racer that is resolved is selected. The work of the other racers is not used."""
    winner, group = event.atom, board.group(event.atom)
    if group is None or not group.speculative:
        return
    name = board.group_of[winner]
    if group.selected != winner:
        note_selected(board, name, winner)
        group = board.loop.or_groups[name]
        board.loop.trail.append(
            TrailEntry(or_group=name, selected=winner, reason=f"{winner} was resolved first", timestamp=event.at)
        )
    board.put_group(name, replace(group, selected=winner, won=winner))
    for other in group.choices:
        if other in board.atoms and board.atoms[other].status == "in_progress":
            board.put(replace(board.atoms[other], status="pending"))
            board.loop.bindings.pop(other, None)


def abandon(board: Board, event: events.AtomAbandoned) -> list[Effect]:
    atom = _atom(board, event, event.atom)
    board.put(_moved(board, event, atom, "abandon"))
    if atom.status == "in_progress":
        board.loop.bindings.pop(atom.id, None)
    return []


def fail_atom(board: Board, event: events.AtomFailed) -> list[Effect]:
    atom = _atom(board, event, event.atom)
    checked_parent = atom.id in board.children_of and atom.status == "pending" and not board.waits_for(atom.id)
    if not checked_parent:
        _moved(board, event, atom, "fail")
        count_attempt(board.loop)
    return fail(board, event)


def bind(board: Board, event: events.BindingWritten) -> list[Effect]:
    atom = _atom(board, event, event.atom)
    if atom.status == "pending":
        raise illegal(board.loop, event, f"{atom.id} is pending: only work that was begun has a result", atom.id)
    board.loop.bindings[atom.id] = Binding(summary=event.summary, artifacts=event.artifacts)
    return []


def probe(board: Board, event: events.AtomProbed) -> list[Effect]:
    """A "no" of a probe is evidence, not a verdict. It counts as one turn without success."""
    atom = _atom(board, event, event.atom)
    if atom.status == "resolved":
        raise illegal(board.loop, event, f"{atom.id} is resolved; there is nothing to find out", atom.id)
    estimate = event.estimate if event.estimate is not None else atom.estimate
    probed = replace(atom, probe=False, findings=event.findings, estimate=estimate)
    if atom.status == "in_progress":
        count_attempt(board.loop)
    if event.feasible:
        board.put(replace(probed, status="pending"))
        return []
    board.put(probed)
    note_negative(board)
    reason = f"not feasible: {event.findings}"
    if atom.status == "pending":
        return rule_against(board, atom.id, reason, event.at)
    counted = turn(board.loop)
    return fail(board, events.AtomFailed(atom=atom.id, reason=reason, at=event.at), counts_for=counted)


def _atom(board: Board, event: events.Event, atom_id: str) -> Atom:
    atom = board.atoms.get(atom_id)
    if atom is None:
        raise illegal(None, event, f"there is no atom {atom_id}; there are: {', '.join(list(board.atoms)[:10])}")
    return atom


def _moved(board: Board, event: events.Event, atom: Atom, move: AtomMove) -> Atom:
    status = ATOM.get((atom.status, move))
    if status is None:
        allowed = sorted({possible for (before, possible) in ATOM if before == atom.status and possible != "reset"})
        raise illegal(board.loop, event, f"{atom.id} is {atom.status}; it allows: {', '.join(allowed)}", atom.id)
    return replace(atom, status=status)
