"""What a run looks at by itself, again and again: the state file, whoever redirects it, and what is blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from aotloop.core import events
from aotloop.core.conduct import Run, reports
from aotloop.errors import AotError
from aotloop.runner.branch import Branch
from aotloop.runner.clock import now
from aotloop.runner.ledger import Item, Ledger
from aotloop.runner.threads import in_thread
from aotloop.statefile.lease import holder_of

GLANCE = 0.05
"""Seconds. A look at a file's facts costs microseconds, works on every file system, and is soon enough."""

_ABSENCE = 0.5
"""So long nobody has held the dialogue before it counts as abandoned."""

_LOOK = 1.0
_RETRY = 3.0
"""Seconds until what was blocked is tried again."""


async def watch_file(ledger: Ledger, look: Callable[[], None]) -> None:
    """Somebody asks to stop, or redirects, or edits the file: that is taken in at once."""
    while True:
        await asyncio.sleep(GLANCE)
        if ledger.is_stale:
            look()


async def watch_lease(renew: Callable[[], None], put: Callable[[Item], None]) -> None:
    """Whoever tidies up a checkout may take the lease along; without it, a second run could begin."""
    while True:
        await asyncio.sleep(_RETRY)
        try:
            renew()
        except AotError as error:
            put(reports.Halted(at=now(), reason=f"error: {error.message}"))


async def watch_dialogue(state_file: str, run: Run, put: Callable[[Item], None]) -> None:
    """The request to redirect belongs to a live holder. If that one is gone, the loop goes on."""
    absent = 0.0
    while True:
        await asyncio.sleep(GLANCE * 4)
        is_abandoned = run.loop.control.redirect_requested and holder_of(state_file, "redirect") is None
        absent = absent + GLANCE * 4 if is_abandoned else 0.0
        if absent >= _ABSENCE:
            absent = 0.0
            put(reports.Told(at=now(), event=events.RedirectExpired()))


async def watch_branch(branch: Branch, put: Callable[[Item], None]) -> None:
    """What a person commits may be what an attempt was waiting for, or what it conflicts with."""
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
