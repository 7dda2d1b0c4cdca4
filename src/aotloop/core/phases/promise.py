"""The promise: the only code that reads `<promise>…</promise>` in the text of an agent. The last promise counts.

An agent often quotes its instructions first and decides at the end, so its last words count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from aotloop.core.phases.effects import Finish, GoOn
from aotloop.core.phases.events import Facts, PromiseMade
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.receipts import receipt_of, verify_again
from aotloop.core.phases.transitions import FOLLOWS, Moved, moved, refuse_strangers

LONGEST = 500
"""The most characters of a promise. A longer text between the marks is no promise."""
_LONGEST_MESSAGE = 50_000
"""Only the end of a message is read, because a promise belongs there."""

_PROMISE = re.compile(rf"<promise>\s*((?:(?!<promise>).){{1,{LONGEST}}}?)\s*</promise>", re.DOTALL)
"""If an opening mark occurs twice, the inner one counts. So a quoted mark does not hide a promise."""


def promise_in(message: str) -> str | None:
    """None: there is no promise, or only blank ones."""
    found = [text.strip() for text in _PROMISE.findall(message[-_LONGEST_MESSAGE:])]
    return found[-1] or None if found else None


def without_promises(text: str) -> str:
    """The text for people, without promises."""
    return _PROMISE.sub("", text)


ROUNDS: frozenset[Phase] = frozenset({"fix", "re_review"})
"""These phases only happen if a review found something."""


def take_promise(loop: PhaseLoop, event: PromiseMade) -> Moved:
    status = moved(loop, event, "complete")
    refuse_strangers(loop, event, event.session_id)
    if reasons := tuple(_objections(loop, event)):
        return loop, (GoOn(phase=loop.phase, reasons=reasons),)
    completed = (*(phase for phase in loop.phases_completed if phase != "ship"), loop.phase)
    return replace(loop, status=status, phases_completed=completed, last_updated=event.at), (Finish(),)


def forced_phases(loop: PhaseLoop) -> frozenset[Phase]:
    """Phases recorded as left by force. A record does not excuse spec_test or ship, which force cannot leave."""
    on_record = {error.phase for error in loop.errors if error.forced}
    return frozenset(phase for phase in on_record if (phase, "forced") in FOLLOWS)


def owed_phases(loop: PhaseLoop) -> tuple[Phase, ...]:
    """The phases whose receipts a promise needs."""
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
