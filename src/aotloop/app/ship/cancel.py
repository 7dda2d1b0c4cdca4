"""Ends the work on a feature: it is stopped, or given up for good. Afterwards no process works on it any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from aotloop.app.ship.feature_access import refuse_agents
from aotloop.clock import now
from aotloop.core.phases import events
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.project import Project, project_at
from aotloop.phases.receipts import tell
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.lease import Holder, holder_of, lease

PATIENCE = 30.0
_LOOK_SECONDS = 0.05

OnWait = Callable[[Holder, float], None]
"""Receives the process that still runs the feature, and the seconds since the request to end."""


def stop_feature(reason: str, on_wait: OnWait | None = None, project: Project | None = None) -> PhaseLoop:
    """What is proven stays proven. `project` None: the one here."""
    refuse_agents("stops it")
    return _end(
        project if project is not None else project_at(),
        events.LoopStopped(at=now(), reason=f"user: {reason}"),
        on_wait,
    )


def cancel_feature(reason: str, on_wait: OnWait | None = None) -> PhaseLoop:
    """Its commits stay on the branch."""
    refuse_agents("cancels it")
    return _end(project_at(), events.LoopCancelled(at=now(), reason=f"user: {reason}"), on_wait)


def _end(project: Project, event: events.PhaseEvent, on_wait: OnWait | None) -> PhaseLoop:
    holder = holder_of(project.store.path)
    loop = tell(project, event).loop
    if holder is None:
        kill_abandoned(project, loop)
    began = time.monotonic()
    while holder is not None and _is_running(project, holder):
        waited = time.monotonic() - began
        if waited > PATIENCE:
            raise AotError(f"{holder.name} was told to stop, but still runs after {PATIENCE:g} s")
        if on_wait is not None:
            on_wait(holder, waited)
        time.sleep(_LOOK_SECONDS)
    return project.store.load()


def _is_running(project: Project, holder: Holder) -> bool:
    present = holder_of(project.store.path)
    return present is not None and present.pid == holder.pid


def kill_abandoned(project: Project, loop: PhaseLoop) -> None:
    """Ends agents and tests that a run left when it died. Holding the leases, no other run can begin meanwhile."""
    from aotloop.app.ship.phase_graph import graph_store  # noqa: PLC0415
    from aotloop.app.ship.plan_graph import is_made_by_us  # noqa: PLC0415 - only needed after a crash
    from aotloop.phases.driver.phase_run import run_id_of  # noqa: PLC0415

    with suppress(AotError), lease(project.store.path):
        kill_orphans(run_id_of(loop, project.store.path))
    store = graph_store(project.root)
    with suppress(AotError):
        graph = store.load()
        if is_made_by_us(graph) and graph.control.run_id is not None:
            with lease(store.path):
                kill_orphans(graph.control.run_id)
