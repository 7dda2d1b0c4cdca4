"""`advance` is the only code that changes a phase loop. It takes an event, and returns the next loop and its effects.

An event that is impossible in the present state raises IllegalEvent. aotloop.core.phases.transitions has the tables of
phases and statuses. aotloop.core.phases.receipts says what a phase has to prove.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core.phases import events, lifecycle, phase_progress, promise, turn
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import Moved


def advance(loop: PhaseLoop, event: events.PhaseEvent) -> Moved:
    return _HANDLERS[type(event)](loop, event)


_HANDLERS: dict[type[events.PhaseEvent], Callable[[PhaseLoop, Any], Moved]] = {
    events.IterationEnded: turn.end_iteration,
    events.ReceiptFiled: turn.file_receipt,
    events.ApprovalGiven: turn.give_approval,
    events.ApprovalRefused: turn.refuse_approval,
    events.PromiseMade: promise.take_promise,
    events.AcceptanceRun: turn.note_tests,
    events.PhaseForced: turn.force_phase,
    events.MoneySpent: phase_progress.spend,
    events.CheckpointWritten: lifecycle.write_checkpoint,
    events.ErrorMet: lifecycle.note_error,
    events.ArtifactsNamed: lifecycle.name_artifacts,
    events.SessionBound: lifecycle.bind,
    events.LoopStopped: lifecycle.stop_loop,
    events.LoopResumed: lifecycle.resume,
    events.LoopCancelled: lifecycle.cancel,
}
