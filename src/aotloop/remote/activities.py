"""One order at the server: started once, followed to its end by a long poll, and ended when it is not wanted.

The server never repeats an attempt by itself: the machine counts attempts, and a silent repetition would cost twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from temporalio.client import ActivityHandle, Client
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RetryPolicy
from temporalio.exceptions import ActivityAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from aotloop.remote.activity_poll import ONE_CALL, PAUSE, Closed, Poll, Terms

MOST_STARTS = 2
"""At the same time. With 8, a busy server lost one start of 30: no worker got it, and it waited for `first_sign`."""
MOST_ENDS = 32
_LONGEST_INSISTENCE = 120.0
_FAREWELL = 10.0
"""Seconds to wait for the bill of an order that was ended."""

_GONE = (RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.NOT_FOUND)


class Activities:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._starts = asyncio.Semaphore(MOST_STARTS)
        self._ends = asyncio.Semaphore(MOST_ENDS)

    async def start(self, kind: str, name: str, content: bytes, terms: Terms, summary: str) -> ActivityHandle[bytes]:
        """Starting twice is starting once: a runner that died finds the same attempt. Raises RPCError."""
        async with self._starts:
            try:
                return await self._client.start_activity(
                    kind,
                    content,
                    id=name,
                    task_queue=terms.queue,
                    result_type=bytes,
                    start_to_close_timeout=timedelta(seconds=terms.total),
                    schedule_to_start_timeout=timedelta(seconds=terms.wait),
                    heartbeat_timeout=timedelta(seconds=terms.heartbeat),
                    retry_policy=RetryPolicy(maximum_attempts=1),
                    id_reuse_policy=ActivityIDReusePolicy.REJECT_DUPLICATE,
                    id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
                    summary=summary,
                    rpc_timeout=timedelta(seconds=10),
                )
            except ActivityAlreadyStartedError:
                return self._client.get_activity_handle(name, result_type=bytes)

    def handle(self, name: str) -> ActivityHandle[bytes]:
        return self._client.get_activity_handle(name, result_type=bytes)

    async def end(self, handle: ActivityHandle[bytes]) -> None:
        """A request: the worker ends the agent, and then says what it cost."""
        await self._insist(partial(handle.cancel, reason="it is not wanted any more", rpc_timeout=ONE_CALL))

    async def kill(self, handle: ActivityHandle[bytes], reason: str) -> None:
        """The worker ends the agent without any grace."""
        await self._insist(partial(handle.terminate, reason=reason, rpc_timeout=ONE_CALL))

    async def _insist(self, call: Callable[[], Awaitable[None]]) -> None:
        """Until the server has heard it. If it is away for longer than that, the worker ends the agent by itself."""
        deadline = time.monotonic() + _LONGEST_INSISTENCE
        while time.monotonic() < deadline:
            try:
                async with self._ends:
                    await call()
            except RPCError as error:
                if error.status in _GONE:
                    return
                await asyncio.sleep(PAUSE)
            else:
                return

    async def follow(
        self,
        handle: ActivityHandle[bytes],
        terms: Terms,
        on_beat: Callable[[bytes], None] = lambda _: None,
        on_wait: Callable[[], None] = lambda: None,
        on_farewell: Callable[[Closed], None] = lambda _: None,
    ) -> Closed:
        """`on_wait`: no worker has taken it so far. Cancelled, it ends the order; `on_farewell`: how it ended then."""
        following = asyncio.create_task(Poll(self._client, handle, terms, on_beat, on_wait).closed())
        try:
            return await asyncio.shield(following)
        except asyncio.CancelledError:
            await self._call_off(handle, following, on_farewell)
            raise
        finally:
            following.cancel()

    async def _call_off(
        self, handle: ActivityHandle[bytes], following: asyncio.Task[Closed], on_farewell: Callable[[Closed], None]
    ) -> None:
        """Asks first, and hears how it ended; cancelled once more, or without an answer, it ends it at once."""
        try:
            async with asyncio.timeout(_FAREWELL):
                await self.end(handle)
                on_farewell(await asyncio.shield(following))
        except (TimeoutError, asyncio.CancelledError, RPCError):
            await asyncio.shield(self.kill(handle, "it has to end at once"))
