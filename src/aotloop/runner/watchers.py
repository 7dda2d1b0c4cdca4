"""Watchers: a run polls the state file, the dialogue that redirects it, and blocked work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from aotloop.clock import now
from aotloop.core import events
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.errors import AotError
from aotloop.execution.integration.branch import Branch
from aotloop.execution.threads import in_thread
from aotloop.runner.ledger import Item, Ledger
from aotloop.statefile.lease import holder_of

GLANCE = 0.05
"""Seconds. A look at a file's metadata costs microseconds, works on every file system, and is soon enough."""

_ABSENCE = 0.5
"""After so many seconds without a holder, the dialogue counts as abandoned."""

_LOOK = 1.0
_RETRY = 3.0
"""Seconds until blocked work is tried again."""


async def watch_file(ledger: Ledger, look: Callable[[], None]) -> None:
    """A request to stop, a redirect, or an edit of the file is taken in at once."""
    while True:
        await asyncio.sleep(GLANCE)
        if ledger.is_stale:
            look()


async def watch_time(ledger: Ledger, note: Callable[[float], None]) -> None:
    """If this process is killed, the next run knows how long it ran."""
    while True:
        note(ledger.ran_seconds)
        await asyncio.sleep(_LOOK)


async def watch_lease(renew: Callable[[], None], put: Callable[[Item], None]) -> None:
    """A cleanup of the checkout may remove the lease; without it, a second run could begin."""
    while True:
        await asyncio.sleep(_RETRY)
        try:
            renew()
        except AotError as error:
            put(reports.Halted(at=now(), reason=f"error: {error.message}"))


async def watch_dialogue(state_file: str, run: Run, put: Callable[[Item], None]) -> None:
    """The request to redirect belongs to a living process. If that process has ended, the loop continues."""
    absent = 0.0
    while True:
        await asyncio.sleep(GLANCE * 4)
        is_abandoned = run.loop.control.redirect_requested and holder_of(state_file, "redirect") is None
        absent = absent + GLANCE * 4 if is_abandoned else 0.0
        if absent >= _ABSENCE:
            absent = 0.0
            put(reports.Happened(at=now(), event=events.RedirectExpired()))


async def watch_branch(branch: Branch, put: Callable[[Item], None]) -> None:
    """A person's commit may help an attempt that waits, or conflict with it."""
    while True:
        await asyncio.sleep(_LOOK)
        with suppress(AotError):
            if await in_thread(branch.was_moved_by_others):
                put(reports.BranchMoved(at=now()))


async def watch_blocked(run: Run, put: Callable[[Item], None]) -> None:
    while True:
        await asyncio.sleep(_RETRY)
        for number in list(run.blocked_by):
            put(reports.Unblocked(at=now(), attempt=number))
