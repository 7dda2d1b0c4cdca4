"""How an impossible event is reported: what was tried, why it cannot be, and the atom's story so far."""

from __future__ import annotations

from aotloop.core.events import Event
from aotloop.core.model import Loop
from aotloop.errors import IllegalEvent

LONGEST_STORY = 3


def illegal(loop: Loop | None, event: Event, why: str, atom_id: str | None = None) -> IllegalEvent:
    story = _story(loop, atom_id) if loop is not None and atom_id is not None else ""
    return IllegalEvent(f"{type(event).__name__} is not possible: {why}{story}", why=f"{why}{story}", cause=why)


def _story(loop: Loop, atom_id: str) -> str:
    entries = [entry for entry in loop.trail if atom_id in (entry.atom, entry.selected)]
    told = [f"{entry.timestamp} {entry.type}: {entry.reason}" for entry in entries[-LONGEST_STORY:]]
    return f" (its story: {'; '.join(told)})" if told else ""
