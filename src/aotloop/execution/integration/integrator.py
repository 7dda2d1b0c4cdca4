"""The integrator, the only loop that brings work to a branch: merge off-tree, check the merge, land in one step.

If the branch moves meanwhile, it repeats all steps. It waits for a person's git process, but not for long. The caller
implements the steps: a run lands under the lock of its ledger, a session under that of the state file.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from functools import partial
from typing import Any, Protocol, TypeVar

from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved, Outcome, Ready, Refused, Unwanted
from aotloop.execution.journals.records import Work
from aotloop.execution.threads import in_thread

PATIENCE, _PAUSE = 5.0, 0.2
"""Seconds to wait for a person's git. No lock of ours is held meanwhile."""

R = TypeVar("R")
T = TypeVar("T")


class Steps(Protocol[R]):
    async def prepare(self) -> R | Landed | Conflicting:
        """Merges the work with the branch as it is now. Landed: an earlier process has landed it already."""

    async def check(self, ready: R) -> Refused | None:
        """None: it may land."""

    async def land(self, ready: R) -> Landed | Moved | Blocked | Unwanted: ...

    async def pause(self, seconds: float) -> None: ...


async def integrate(steps: Steps[R]) -> Outcome:
    """Raises AotError and OSError where a step does."""
    deadline = time.monotonic() + PATIENCE
    while True:
        ready = await steps.prepare()
        if isinstance(ready, Landed | Conflicting):
            return ready
        if (refused := await steps.check(ready)) is not None:
            return refused
        done = await steps.land(ready)
        while isinstance(done, Blocked) and done.is_busy and time.monotonic() <= deadline:
            await steps.pause(_PAUSE)
            done = await steps.land(ready)
        if not isinstance(done, Moved):
            return done
        await steps.pause(0)


class BranchSteps:
    """The steps of a task that needs no decision in between. They block, in threads."""

    def __init__(self, branch: Branch, work: Work, run_id: str) -> None:
        self.branch = branch
        self.work = work
        self._run_id = run_id

    async def prepare(self) -> Ready | Landed | Conflicting:
        landed = await in_thread(partial(self.branch.landed_before, self.work, self._run_id))
        return Landed(landed) if landed is not None else await in_thread(partial(self.branch.prepare, self.work))

    async def check(self, ready: Ready) -> Refused | None:  # noqa: ARG002 - this work has no check here
        return None

    async def land(self, ready: Ready) -> Landed | Moved | Blocked | Unwanted:
        return await in_thread(partial(self.branch.land, ready))

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def without_waiting(work: Coroutine[Any, Any, T]) -> T:
    """Runs `integrate` without an event loop, for steps that block instead of waiting."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise AssertionError("a step waited for an event loop")
