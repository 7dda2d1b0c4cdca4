"""`advance` is the only code that changes a phase loop. It takes an event, and returns the next loop and its effects.

An event that is impossible in the present state raises IllegalEvent. aotloop.core.phases.transitions has the tables of
phases and statuses. aotloop.core.phases.receipts says what a phase has to prove.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core.phases import events, phase_progress, promise, status_changes, turn
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
    events.CheckpointWritten: status_changes.write_checkpoint,
    events.ErrorMet: status_changes.note_error,
    events.ArtifactsNamed: status_changes.name_artifacts,
    events.SessionBound: status_changes.bind,
    events.LoopStopped: status_changes.stop_loop,
    events.LoopResumed: status_changes.resume,
    events.LoopCancelled: status_changes.cancel,
}
