"""The lifeline of one attempt on a worker: signs of life go out, and a request to end comes in at once.

If the server does not answer for as long as it waits for a sign of life, it has given the attempt up: then the work is
ended here, too. So a worker behind a cut cable does no work that is lost anyway.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from aotloop.remote.activity_poll import RUNNING

THROTTLE = 1.0
"""Seconds until the first change is told after the first sign."""

_SELDOM, _SLOWER = 5.0, 1.5
"""Later changes are told less and less often, down to this: each costs the server a write, and wakes two polls."""

_LONGEST_SILENCE = 30.0

_CANCEL_REQUESTED = PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
_PAUSE = 0.5
_HURRY = 0.05
_SHORT = 0.25
"""Seconds. Work that ends within this time is not watched, and gives no sign: each would cost more than itself."""


class Ended:
    """Why the work was ended from outside."""

    def __init__(self) -> None:
        self.reason = ""


@asynccontextmanager
async def lifeline(client: Client, work: asyncio.Task[object], beat: Callable[[], bytes]) -> AsyncIterator[Ended]:
    ended = Ended()
    tasks = [asyncio.create_task(_beat(beat)), asyncio.create_task(_watch(client, work, ended))]
    try:
        yield ended
    finally:
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):  # once its result is there, a late sign of life is answered so
            await asyncio.gather(*tasks, return_exceptions=True)


async def _beat(beat: Callable[[], bytes]) -> None:
    last, at, every = b"", 0.0, silence(_timeout(_LONGEST_SILENCE))
    pause = THROTTLE
    await asyncio.sleep(min(every, _SHORT))
    while True:
        content = beat()
        if content != last or time.monotonic() - at >= every:
            activity.heartbeat(content)
            pause = min(pause * _SLOWER, _SELDOM) if last else THROTTLE
            last, at = content, time.monotonic()
        await asyncio.sleep(min(every, pause))


def silence(limit: float) -> float:
    """Seconds after which a sign of life is given though nothing has changed. Each costs the server a write."""
    return min(limit / 4, _LONGEST_SILENCE)


def _timeout(usual: float) -> float:
    limit = activity.info().heartbeat_timeout
    return limit.total_seconds() if limit else usual


async def _watch(client: Client, work: asyncio.Task[object], ended: Ended) -> None:
    info, patience = activity.info(), _timeout(600.0)
    token, heard = b"", time.monotonic()
    await asyncio.sleep(_SHORT)
    while True:
        request = DescribeActivityExecutionRequest(
            namespace=client.namespace,
            activity_id=info.activity_id,
            run_id=info.activity_run_id or "",
            long_poll_token=token,
        )
        left = heard + patience - time.monotonic()
        try:
            found = await client.workflow_service.describe_activity_execution(
                request, retry=False, timeout=timedelta(seconds=max(left, 1.0))
            )
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return _end(work, ended, "the server does not know it any more", at_once=True)
            if time.monotonic() - heard >= patience:
                return _end(work, ended, f"the server did not answer for {patience:g} seconds", at_once=True)
            await asyncio.sleep(_PAUSE)
            continue
        heard = time.monotonic()
        if not found.HasField("info"):
            continue
        token = found.long_poll_token
        if found.info.status != RUNNING:
            return _end(work, ended, "it was ended at once", at_once=True)
        if found.info.run_state == _CANCEL_REQUESTED and not ended.reason:
            _end(work, ended, "it is not wanted any more", at_once=False)


def _end(work: asyncio.Task[object], ended: Ended, reason: str, *, at_once: bool) -> None:
    ended.reason = reason
    if at_once:
        end_at_once(work)
    else:
        work.cancel()


def end_at_once(work: asyncio.Task[Any]) -> None:
    """Cancelled once more, processes get no more grace."""
    work.cancel()
    asyncio.get_running_loop().call_later(_HURRY, work.cancel)
