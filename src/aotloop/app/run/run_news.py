"""How a run begins and ends, as events for those who watch; and the end of a run that a bug has stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from aotloop.clock import now
from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.slots import most_at_once
from aotloop.execution import run_events
from aotloop.execution.isolation.place import Isolation
from aotloop.runner.runner import Ending


def run_began(run: Run, run_id: str, isolation: Isolation, overriding: Mapping[str, Any]) -> run_events.RunEvent:
    branch = isolation.branch
    return run_events.RunBegan(
        at=now(),
        run_id=run_id,
        pid=os.getpid(),
        goal=run.loop.objective.goal,
        isolation=isolation.isolation,
        branch=branch.name if branch is not None else None,
        slots=most_at_once(run),
        attempts_at_most=attempts_left(run.loop, run.limits),
        max_cost_usd=run.limits.max_cost_usd,
        overriding=dict(overriding),
    )


def run_ended(run: Run, ending: Ending) -> run_events.RunEvent:
    control = run.loop.control
    return run_events.RunEnded(
        at=now(),
        status="completed" if ending.status == "completed" else "stopped",
        reason=ending.reason,
        worked=ending.worked,
        seconds=control.ran_seconds,
        cost_usd=control.cost_usd,
        used=control.used,
    )


def stop_after_a_bug(loop: Loop, *, reason: str) -> None:
    for atom in [atom for atom in loop.atoms if atom.status == "in_progress"]:
        advance(loop, events.AtomAbandoned(atom=atom.id))
    advance(loop, events.LoopStopped(reason=reason))
