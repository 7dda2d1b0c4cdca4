"""`advance` is the only code that changes a loop. It takes an event, and returns the effects it asks for.

An event that is impossible in the present state raises IllegalEvent, which names event, atom and state. It changes
nothing, because everything is checked before the first assignment. aotloop.core.transitions has the table of statuses.

A caller with many events keeps a Board of the loop and passes it each time. Then an event costs only what it touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.graph.board import Board
from aotloop.core.handlers import atoms, growth, status
from aotloop.core.handlers.backtracking import switch
from aotloop.core.handlers.blame import repair_base_case
from aotloop.core.handlers.failure import seek_alternative
from aotloop.core.handlers.generations import begin_generation, end_generation
from aotloop.core.handlers.probes import note_price
from aotloop.core.handlers.redirect import correct
from aotloop.core.handlers.status import bind, name_coordinator, steer
from aotloop.core.model import Loop


def advance(loop: Loop, event: events.Event, board: Board | None = None) -> list[Effect]:
    return _HANDLERS[type(event)](board if board is not None else Board(loop), event)


_HANDLERS: dict[type[events.Event], Callable[[Board, Any], list[Effect]]] = {
    events.AtomStarted: atoms.start,
    events.AtomResolved: atoms.resolve,
    events.AtomAbandoned: atoms.abandon,
    events.AtomFailed: atoms.fail_atom,
    events.AtomProbed: atoms.probe,
    events.AlternativeSought: seek_alternative,
    events.BindingWritten: atoms.bind,
    events.AtomAdded: growth.add,
    events.AtomDecomposed: growth.decompose,
    events.BranchSwitched: switch,
    events.LoopStarted: status.start,
    events.SessionBound: bind,
    events.LoopStopped: status.stop,
    events.Steered: steer,
    events.CoordinatorChanged: name_coordinator,
    events.StopRequested: status.request_stop,
    events.PauseRequested: status.pause,
    events.PauseEnded: status.end_pause,
    events.VerdictReached: status.record_verdict,
    events.LoopCompleted: status.complete,
    events.BaseCaseFailed: repair_base_case,
    events.GenerationBegan: begin_generation,
    events.GenerationEnded: end_generation,
    events.AttemptPaid: note_price,
    events.Spent: status.spend,
    events.RedirectRequested: status.request_redirect,
    events.RedirectExpired: status.expire_redirect,
    **dict.fromkeys(events.Corrected.__subclasses__(), correct),
}
