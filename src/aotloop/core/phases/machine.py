"""`advance` is the only code that changes a phase loop. It takes a fact; it returns the loop after it, and what to do.

An event that is impossible in the present state raises IllegalEvent. Which phase and which status may follow which is
in aotloop.core.phases.transitions, what a phase has to prove in aotloop.core.phases.receipts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.core.phases import completing, events, spending, status, working
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.moving import Moved


def advance(loop: PhaseLoop, event: events.PhaseEvent) -> Moved:
    return _HANDLERS[type(event)](loop, event)


_HANDLERS: dict[type[events.PhaseEvent], Callable[[PhaseLoop, Any], Moved]] = {
    events.IterationEnded: working.end_iteration,
    events.ReceiptFiled: working.file_receipt,
    events.ApprovalGiven: working.give_approval,
    events.ApprovalRefused: working.refuse_approval,
    events.PromiseMade: completing.take_promise,
    events.AcceptanceRun: working.note_tests,
    events.PhaseForced: working.force_phase,
    events.MoneySpent: spending.spend,
    events.CheckpointWritten: status.write_checkpoint,
    events.ErrorMet: status.note_error,
    events.ArtifactsNamed: status.name_artifacts,
    events.SessionBound: status.bind,
    events.LoopStopped: status.stop_loop,
    events.LoopResumed: status.resume,
    events.LoopCancelled: status.cancel,
}
