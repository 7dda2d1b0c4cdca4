"""Which phase follows which, and which status; everything that decides about it is in these tables.

    brainstorm ▶ plan ▶ spec_test ▶ deepen ▶ work ▶ review ──────────────────▶ compound ▶ test ▶ ship
                                                      └▶ fix ▶ re_review ─────▲
                                                          ▲────────┘ findings

What has no row cannot be: nothing forces the loop out of spec_test or ship; there it stops instead.
"""

from __future__ import annotations

from typing import Literal

from aotloop.core.phases.model import Phase, Status

Outcome = Literal["done", "findings", "forced"]
"""findings: it is done, and something is left to fix."""

Move = Literal["work", "wait", "answer", "stop", "resume", "complete", "cancel"]

FOLLOWS: dict[tuple[Phase, Outcome], Phase] = {
    ("brainstorm", "done"): "plan",
    ("brainstorm", "forced"): "plan",
    ("plan", "done"): "spec_test",
    ("plan", "forced"): "spec_test",
    ("spec_test", "done"): "deepen",
    ("deepen", "done"): "work",
    ("deepen", "forced"): "work",
    ("work", "done"): "review",
    ("work", "forced"): "review",
    ("review", "done"): "compound",
    ("review", "findings"): "fix",
    ("review", "forced"): "compound",
    ("fix", "done"): "re_review",
    ("fix", "forced"): "re_review",
    ("re_review", "done"): "compound",
    ("re_review", "findings"): "fix",
    ("re_review", "forced"): "compound",
    ("compound", "done"): "test",
    ("compound", "forced"): "test",
    ("test", "done"): "ship",
    ("test", "forced"): "ship",
}

FORCED_ONLY_IF_TESTS_PASS: frozenset[Phase] = frozenset({"test"})

STATUS: dict[tuple[Status, Move], Status] = {
    ("running", "work"): "running",
    ("running", "wait"): "waiting",
    ("running", "stop"): "stopped",
    ("running", "resume"): "running",
    ("running", "complete"): "completed",
    ("running", "cancel"): "cancelled",
    ("waiting", "answer"): "running",
    ("waiting", "stop"): "stopped",
    ("waiting", "cancel"): "cancelled",
    ("stopped", "stop"): "stopped",
    ("stopped", "resume"): "running",
    ("stopped", "cancel"): "cancelled",
    ("cancelled", "cancel"): "cancelled",
}
