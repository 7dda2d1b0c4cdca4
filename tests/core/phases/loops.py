"""A phase loop to try things with: in any phase, with receipts of all that came before."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from prove.phases import PROVEN, RED

from aotloop.core.phases.effects import PhaseEffect
from aotloop.core.phases.events import ApprovalGiven, Facts, IterationEnded, PromiseMade, ReceiptFiled
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop, Receipt
from aotloop.core.phases.status_changes import begin

AT = "2026-02-13T10:00:00Z"
LATER = "2026-02-13T11:00:00Z"


def a_phase_loop(**given: Any) -> PhaseLoop:
    loop = PhaseLoop(**{"feature": "log in", "phase": "brainstorm", "started_at": AT, "last_updated": AT, **given})
    return begin(loop)[0] if "phase" not in given else loop


def receipt(phase: Phase, **given: Any) -> Receipt:
    return Receipt(**{"phase": phase, "artifact": f"docs/{phase}.md", "git_sha": "a1b2c3d", "timestamp": AT, **given})


def facts_for(phase: Phase, **given: Any) -> Facts:
    return replace(RED if phase == "spec_test" else PROVEN, **given)


def filed(phase: Phase, **facts: Any) -> ReceiptFiled:
    return ReceiptFiled(at=LATER, receipt=receipt(phase), facts=facts_for(phase, **facts))


def ended(count: int, loop: PhaseLoop, **given: Any) -> tuple[PhaseLoop, tuple[PhaseEffect, ...]]:
    """After that many iterations, and what was asked for in the last one."""
    effects: tuple[PhaseEffect, ...] = ()
    for _ in range(count):
        loop, effects = advance(loop, IterationEnded(at=LATER, session_id=loop.session_id, **given))
    return loop, effects


def promised(text: str = "SHIPPED", session_id: str | None = None, **facts: Facts) -> PromiseMade:
    every: dict[Phase, Facts] = dict.fromkeys(PHASES, PROVEN)
    for phase in PHASES:
        if phase in facts:
            every[phase] = facts[phase]
    return PromiseMade(at=LATER, text=text, session_id=session_id, facts=every)


def walk_to(phase: Phase, loop: PhaseLoop, *, findings: int = 0) -> PhaseLoop:
    """By good receipts alone; `findings`: what every review finds."""
    for _ in range(40):
        if loop.phase == phase:
            return loop
        is_review = loop.phase in ("review", "re_review")
        loop, _effects = advance(loop, filed(loop.phase, open_findings=findings if is_review else 0))
        if loop.status == "waiting":
            loop, _effects = advance(loop, ApprovalGiven(at=LATER, facts=RED))
    raise AssertionError(phase)
