"""One order at the server: started once, followed to its end by a long poll, and ended when it is not wanted.

The server never repeats an attempt by itself: the machine counts attempts, and a silent repetition would cost twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from temporalio.api.enums.v1 import ActivityExecutionStatus, PendingActivityState
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest, DescribeActivityExecutionResponse
from temporalio.client import ActivityHandle, Client
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RetryPolicy
from temporalio.exceptions import ActivityAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

MOST_STARTS = 2
"""At the same time. With 8, a busy server lost one start of 30: no worker got it, and it waited for `first_sign`."""
MOST_ENDS = 32
_ONE_CALL = timedelta(seconds=10)
_LONGEST_INSISTENCE = 120.0
_FAREWELL = 10.0
"""Seconds to wait for the bill of an order that was ended."""

LONGEST_POLL = 70.0
RUNNING = ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_RUNNING
_TIMED_OUT = ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_TIMED_OUT
_SCHEDULED = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
_GONE = (RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.NOT_FOUND)
_PAUSE = 0.5
_SHORT = 0.1
"""Seconds. By then a worker has begun, and has given a sign: one answer instead of three."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds."""

    queue: str
    total: float
    """From the start on a worker to the end."""
    heartbeat: float
    wait: float
    first_sign: float = 15.0
    patience: float = 600.0
    """How long the server may be away."""


class Closed(msgspec.Struct, frozen=True, kw_only=True):
    """How the order ended; without content: why there is none."""

    content: bytes | None = None
    reason: str = ""
    is_refused: bool = False
    """A worker said that it cannot even read the order."""


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
        await self._insist(partial(handle.cancel, reason="it is not wanted any more", rpc_timeout=_ONE_CALL))

    async def kill(self, handle: ActivityHandle[bytes], reason: str) -> None:
        """The worker ends the agent without any grace."""
        await self._insist(partial(handle.terminate, reason=reason, rpc_timeout=_ONE_CALL))

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
                await asyncio.sleep(_PAUSE)
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
        following = asyncio.create_task(_Poll(self._client, handle, terms, on_beat, on_wait).closed())
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


class _Poll:
    def __init__(
        self,
        client: Client,
        handle: ActivityHandle[bytes],
        terms: Terms,
        on_beat: Callable[[bytes], None],
        on_wait: Callable[[], None],
    ) -> None:
        self._client, self._handle, self._terms = client, handle, terms
        self._on_beat, self._on_wait = on_beat, on_wait
        self._token, self._run_id = b"", handle.run_id or ""
        self._heard = time.monotonic()
        self._given: float | None = None
        """When a worker got it."""
        self._has_beat = False

    async def closed(self) -> Closed:
        await asyncio.sleep(_SHORT)
        while True:
            found = await self._answer()
            if isinstance(found, Closed):
                return found
            if found is not None and found.HasField("info") and (closed := await self._seen(found)) is not None:
                return closed
            if self._is_overdue():
                with suppress(RPCError):  # it ends just now
                    await self._handle.terminate(reason="no worker began it", rpc_timeout=timedelta(seconds=5))
                return Closed(reason="it was given to a worker that never began")

    async def _answer(self) -> DescribeActivityExecutionResponse | Closed | None:
        """None: nothing new."""
        request = DescribeActivityExecutionRequest(
            namespace=self._client.namespace,
            activity_id=self._handle.id,
            run_id=self._run_id,
            long_poll_token=self._token,
            include_heartbeat_details=True,
            include_outcome=True,
        )
        service = self._client.workflow_service
        try:
            found = await service.describe_activity_execution(
                request, retry=False, timeout=timedelta(seconds=self._longest())
            )
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return Closed(reason="the server does not know it any more")
            if error.status == RPCStatusCode.DEADLINE_EXCEEDED and self._token:
                return None
            if time.monotonic() - self._heard > self._terms.patience:
                return Closed(reason=f"the server cannot be reached: {error.message}")
            await asyncio.sleep(_PAUSE)
            return None
        self._heard = time.monotonic()
        return found

    def _longest(self) -> float:
        if self._given is None or self._has_beat:
            return LONGEST_POLL
        return max(0.2, self._given + self._terms.first_sign - time.monotonic())

    async def _seen(self, found: DescribeActivityExecutionResponse) -> Closed | None:
        info = found.info
        self._run_id = found.run_id or self._run_id
        self._token = found.long_poll_token
        if info.heartbeat_details.payloads:
            self._has_beat = True
            self._on_beat(await self._opened(info.heartbeat_details.payloads))
        if info.status != RUNNING:  # a token comes with the last answer, too
            return await self._end_of(found)
        if info.run_state == _SCHEDULED:
            self._on_wait()
        elif self._given is None:
            self._given = time.monotonic()
        return None

    def _is_overdue(self) -> bool:
        is_given = self._given is not None and not self._has_beat
        return is_given and time.monotonic() - (self._given or 0.0) > self._terms.first_sign

    async def _end_of(self, found: DescribeActivityExecutionResponse) -> Closed:
        if found.outcome.HasField("failure"):
            failure = await self._client.data_converter.decode_failure(found.outcome.failure)
            if found.info.status == _TIMED_OUT:
                reason = "its worker gave no sign of life any more" if self._given else "no worker took it"
                return Closed(reason=reason)
            is_unread = found.info.status == ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_FAILED
            return Closed(reason=_said(failure), is_refused=is_unread)
        try:
            return Closed(content=await self._opened(found.outcome.result.payloads))
        except ValueError as error:
            return Closed(reason=f"its result cannot be read: {error}", is_refused=True)

    async def _opened(self, payloads: Any) -> bytes:
        [content] = await self._client.data_converter.decode(payloads, [bytes])
        return content if isinstance(content, bytes) else b""


def _said(failure: BaseException) -> str:
    """The innermost cause."""
    while failure.__cause__ is not None:
        failure = failure.__cause__
    return str(failure).splitlines()[0][:500] if str(failure) else type(failure).__name__
