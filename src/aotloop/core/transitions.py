"""Transitions: these tables alone decide which status may follow, for atoms and for loops.

    atom   pending ──start──▶ in_progress ──resolve──▶ resolved
              ▲                    │                      │
              └──abandon, fail─────┘      reset ──────────┘

    loop   pending ──start──▶ running ──complete──▶ completed
                                 │  ▲
                               stop start                ▲
                                 ▼  │                    │
                               stopped ──complete────────┘

Setting the present status again is allowed and changes nothing.
"""

from __future__ import annotations

from typing import Literal

from aotloop.core.events import Event
from aotloop.core.model import AtomStatus, Loop, LoopStatus
from aotloop.errors import IllegalEvent
from aotloop.text.shorten import short_line

AtomMove = Literal["start", "resolve", "abandon", "fail", "reset"]
LoopMove = Literal["start", "stop", "complete"]

ATOM: dict[tuple[AtomStatus, AtomMove], AtomStatus] = {
    ("pending", "start"): "in_progress",
    ("in_progress", "start"): "in_progress",
    ("in_progress", "resolve"): "resolved",
    ("resolved", "resolve"): "resolved",
    ("in_progress", "abandon"): "pending",
    ("pending", "abandon"): "pending",
    ("in_progress", "fail"): "pending",
    ("pending", "reset"): "pending",
    ("in_progress", "reset"): "pending",
    ("resolved", "reset"): "pending",
}

LOOP: dict[tuple[LoopStatus, LoopMove], LoopStatus] = {
    ("pending", "start"): "running",
    ("stopped", "start"): "running",
    ("running", "start"): "running",
    ("running", "stop"): "stopped",
    ("stopped", "stop"): "stopped",
    ("running", "complete"): "completed",
    ("stopped", "complete"): "completed",
    ("completed", "complete"): "completed",
}


LONGEST_STORY = 3
LONGEST_REASON = 120
"""Characters: a reason may hold the last lines of an output."""


def illegal(loop: Loop | None, event: Event, why: str, atom_id: str | None = None) -> IllegalEvent:
    story = _story(loop, atom_id) if loop is not None and atom_id is not None else ""
    return IllegalEvent(f"{type(event).__name__} is not possible: {why}{story}", why=f"{why}{story}", cause=why)


def _story(loop: Loop, atom_id: str) -> str:
    entries = [entry for entry in loop.trail if atom_id in (entry.atom, entry.selected)]
    lines = [
        f"{entry.timestamp} {entry.type}: {short_line(entry.reason, LONGEST_REASON)}"
        for entry in entries[-LONGEST_STORY:]
    ]
    return f" (what happened to it: {'; '.join(lines)})" if lines else ""
