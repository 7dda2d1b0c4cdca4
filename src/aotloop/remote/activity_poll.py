"""A poll of one order at the server: what its worker says while it works, and how it ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
from temporalio.api.enums.v1 import ActivityExecutionStatus, PendingActivityState
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest, DescribeActivityExecutionResponse
from temporalio.client import ActivityHandle, Client
from temporalio.service import RPCError, RPCStatusCode

LONGEST_POLL = 70.0
RUNNING = ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_RUNNING
ONE_CALL = timedelta(seconds=10)
PAUSE = 0.5
_TIMED_OUT = ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_TIMED_OUT
_SCHEDULED = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
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


class Poll:
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
        self._last: Any = None

    async def closed(self) -> Closed:
        await asyncio.sleep(_SHORT)
        while True:
            found = await self._answer()
            if isinstance(found, Closed):
                return found
            if found is not None and found.HasField("info") and (closed := await self._seen(found)) is not None:
                return closed
            if self._is_overdue() and await self._is_withdrawn():
                return Closed(reason="it was given to a worker that never began")

    async def _is_withdrawn(self) -> bool:
        """If it ends just now, or has ended unheard, the next answer says how: a result that is there is never lost."""
        self._token = b""
        try:
            await self._handle.terminate(reason="no worker began it", rpc_timeout=ONE_CALL)
        except RPCError:
            await asyncio.sleep(PAUSE)
            return False
        return True

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
            await asyncio.sleep(PAUSE)
            return None
        self._heard = time.monotonic()
        return found

    def _longest(self) -> float:
        if self._given is None or self._last is not None:
            return LONGEST_POLL
        return max(0.2, self._given + self._terms.first_sign - time.monotonic())

    async def _seen(self, found: DescribeActivityExecutionResponse) -> Closed | None:
        info = found.info
        self._run_id = found.run_id or self._run_id
        self._token = found.long_poll_token
        if info.heartbeat_details.payloads and info.heartbeat_details != self._last:  # a poll also ends for other news
            self._last = info.heartbeat_details
            self._on_beat(await self._opened(info.heartbeat_details.payloads))
        if info.status != RUNNING:  # a token comes with the last answer, too
            return await self._end_of(found)
        if info.run_state == _SCHEDULED:
            self._on_wait()
        elif self._given is None:
            self._given = time.monotonic()
        return None

    def _is_overdue(self) -> bool:
        is_given = self._given is not None and self._last is None
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
