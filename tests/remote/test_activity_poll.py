"""How an order ended is asked once more before it counts as one that no worker began."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.api.enums.v1 import ActivityExecutionStatus, PendingActivityState
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest, DescribeActivityExecutionResponse
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from aotloop.remote.activity_poll import RUNNING, Closed, Poll, Terms

_COMPLETED = ActivityExecutionStatus.ACTIVITY_EXECUTION_STATUS_COMPLETED
_STARTED = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED


class DeafService:
    """An order was begun, and no sign of it is heard, however it ends."""

    def __init__(self, end: RPCStatusCode | None) -> None:
        """`end`: what the server answers when the order is to be ended."""
        self.id, self.run_id, self.end = "order", "run", end

    async def describe_activity_execution(
        self, request: DescribeActivityExecutionRequest, **_: object
    ) -> DescribeActivityExecutionResponse:
        told = DescribeActivityExecutionResponse(run_id=self.run_id, long_poll_token=b"next")
        told.info.status = RUNNING
        told.info.run_state = _STARTED
        if request.long_poll_token:
            raise RPCError("nothing new", RPCStatusCode.DEADLINE_EXCEEDED, b"")
        if self.end is RPCStatusCode.NOT_FOUND and self.is_asked:
            told.info.status = _COMPLETED
            [payload] = await DataConverter.default.encode([b"result"])
            told.outcome.result.payloads.append(payload)
        return told

    is_asked = False

    async def terminate(self, **_: object) -> None:
        self.is_asked = True
        if self.end is not None:
            raise RPCError("it has ended", self.end, b"")


@pytest.mark.parametrize(
    ("end", "closed"),
    [
        (None, Closed(reason="it was given to a worker that never began")),
        (RPCStatusCode.NOT_FOUND, Closed(content=b"result")),
    ],
    ids=["it never began", "it has ended unheard"],
)
def test_an_order_without_a_sign_is_lost_only_if_it_has_no_result(end: RPCStatusCode | None, closed: Closed) -> None:
    service: Any = DeafService(end)
    client: Any = SimpleNamespace(namespace="default", workflow_service=service, data_converter=DataConverter.default)
    terms = Terms(queue="q", total=60.0, heartbeat=60.0, wait=60.0, first_sign=0.0)
    poll = Poll(client, service, terms, lambda _: None, lambda: None)
    assert asyncio.run(poll.closed()) == closed
