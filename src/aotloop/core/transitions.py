"""Which status may follow which, for atoms and for loops; everything that decides about it is in these tables.

    atom   pending ──start──▶ in_progress ──resolve──▶ resolved
              ▲                    │                      │
              └──abandon, fail─────┘      reset ──────────┘

    loop   pending ──start──▶ running ──complete──▶ completed
                                 │  ▲
                               stop start                ▲
                                 ▼  │                    │
                               stopped ──complete────────┘

Setting what already is, is allowed and changes nothing.
"""

from __future__ import annotations

from typing import Literal

from aotloop.core.model import AtomStatus, LoopStatus

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
