"""`advance` is the only code that changes a loop. It takes a fact, and returns what it wants done about it.

An event that is impossible in the present state raises IllegalEvent, naming event, atom and state, and changes nothing:
everything is checked before the first assignment. Which status may follow which is in aotloop.core.transitions.

Whoever takes many events keeps a Board of the loop and hands it over each time; then an event costs no more than what
it touches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core import atoms, events, growth, status
from aotloop.core.backtracking import switch
from aotloop.core.board import Board
from aotloop.core.effects import Effect
from aotloop.core.failure import seek_alternative
from aotloop.core.generations import begin_generation, end_generation
from aotloop.core.model import Loop
from aotloop.core.probing import note_price
from aotloop.core.redirect import correct
from aotloop.core.sessions import bind
from aotloop.core.steering import steer
from aotloop.core.verdicts import repair_base_case


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
    events.StopRequested: status.request_stop,
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
