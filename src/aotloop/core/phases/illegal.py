"""How an impossible event is refused: what was tried, and why it cannot be."""

from __future__ import annotations

from aotloop.core.phases.events import PhaseEvent
from aotloop.core.phases.model import PhaseLoop, Status
from aotloop.core.phases.transitions import STATUS, Move
from aotloop.errors import IllegalEvent

FINAL: frozenset[Status] = frozenset({"completed", "cancelled"})


def illegal(event: PhaseEvent, why: str) -> IllegalEvent:
    return IllegalEvent(f"{type(event).__name__} is not possible: {why}", why=why)


def moved(loop: PhaseLoop, event: PhaseEvent, move: Move) -> Status:
    """The status that follows, by the table."""
    following = STATUS.get((loop.status, move))
    if following is None:
        allowed = sorted({one for before, one in STATUS if before == loop.status})
        raise illegal(event, f"the loop is {loop.status}; it allows: {', '.join(allowed) or 'nothing any more'}")
    return following


def refuse_if_final(loop: PhaseLoop, event: PhaseEvent) -> None:
    if loop.status in FINAL:
        raise illegal(event, f"the loop is {loop.status}, and stays so")


def refuse_strangers(loop: PhaseLoop, event: PhaseEvent, session_id: str | None) -> None:
    """What an agent does counts only in the session that the loop belongs to, or in none if it belongs to none."""
    if session_id != loop.session_id:
        owner = f"the session {loop.session_id}" if loop.session_id is not None else "no session"
        raise illegal(event, f"it comes from {session_id or 'outside of any session'}, and {owner} drives the loop")
