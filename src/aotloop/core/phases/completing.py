"""A promise is a claim like any other: it counts in ship alone, and only with everything proven that was not forced."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from aotloop.core.phases.effects import Finish, GoOn
from aotloop.core.phases.events import PromiseMade
from aotloop.core.phases.facts import Facts
from aotloop.core.phases.illegal import moved, refuse_strangers
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.moving import Moved
from aotloop.core.phases.receipts import verify_again
from aotloop.core.phases.transitions import FOLLOWS
from aotloop.core.phases.working import receipt_of

ROUNDS: frozenset[Phase] = frozenset({"fix", "re_review"})
"""Only walked through if a review found something."""


def take_promise(loop: PhaseLoop, event: PromiseMade) -> Moved:
    status = moved(loop, event, "complete")
    refuse_strangers(loop, event, event.session_id)
    if reasons := tuple(_objections(loop, event)):
        return loop, (GoOn(phase=loop.phase, reasons=reasons),)
    completed = (*(one for one in loop.phases_completed if one != "ship"), loop.phase)
    return replace(loop, status=status, phases_completed=completed, last_updated=event.at), (Finish(),)


def forced_phases(loop: PhaseLoop) -> frozenset[Phase]:
    """Those on record as left by force, as far as force can be: a record does not excuse spec_test or ship."""
    on_record = {error.phase for error in loop.errors if error.forced}
    return frozenset(phase for phase in on_record if (phase, "forced") in FOLLOWS)


def owed_phases(loop: PhaseLoop) -> tuple[Phase, ...]:
    """Those whose receipts a promise needs."""
    excused = set(forced_phases(loop))
    walked = {*loop.phases_completed, *excused}
    if loop.skip_brainstorm and "brainstorm" not in loop.phases_completed:
        excused.add("brainstorm")
    if not loop.fix_review_cycles and not walked & ROUNDS:
        excused |= ROUNDS
    return tuple(phase for phase in PHASES if phase not in excused)


def _objections(loop: PhaseLoop, event: PromiseMade) -> Iterator[str]:
    if loop.phase != "ship":
        yield f"the promise counts only in ship, and the loop is in {loop.phase}"
        return
    if event.text != loop.completion_promise:
        yield f"the promise is {loop.completion_promise!r}, word for word"
    for phase in owed_phases(loop):
        receipt = receipt_of(loop, phase)
        if receipt is None:
            yield f"there is no receipt of {phase}"
        else:
            yield from (f"{phase}: {reason}" for reason in verify_again(receipt, event.facts.get(phase, Facts())))
