"""The workbench of a worker: what all kinds of orders share there, and how one is carried out.

An order is carried out under a lifeline; its result is on disk before it is sent. A worker carries out only orders that
its own configuration accepts (`order_acceptance`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
from temporalio import activity
from temporalio.client import Client

from aotloop.agents.contract import Meter
from aotloop.errors import AotError
from aotloop.remote.wire import LARGEST_MESSAGE, Beat
from aotloop.remote.worker.delivery import Delivery, Parcel
from aotloop.remote.worker.lifeline import end_at_once, lifeline
from aotloop.remote.worker.mirrors import Mirrors
from aotloop.remote.worker.order_acceptance import Acceptance

_TAIL = 20
_LONGEST_LINE = 500

R = TypeVar("R", bound=msgspec.Struct)


class Status:
    """What is told about an order while it is carried out."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._lines: list[str] = []
        self._seen = 0
        self.phase = "fetching"
        self.meter = Meter()

    def heard(self, line: str) -> None:
        self._seen += 1
        self._lines = [*self._lines[1 - _TAIL :], line[:_LONGEST_LINE]]

    def beat(self) -> bytes:
        return msgspec.json.encode(self.told())

    def told(self) -> Beat:
        return Beat(
            phase=self.phase,
            host=self._host,
            lines=tuple(self._lines),
            seen=self._seen,
            cost_usd=self.meter.cost_usd,
            tokens=self.meter.tokens,
        )


class Workbench(msgspec.Struct, frozen=True, kw_only=True):
    client: Client
    home: Path
    mirrors: Mirrors
    delivery: Delivery
    acceptance: Acceptance
    mark: str
    """The value of AOT_RUN_ID of all processes of this worker."""
    host: str
    running: dict[str, asyncio.Task[Any]] = msgspec.field(default_factory=dict)
    """By id: the orders that are carried out now."""
    variables: Mapping[str, str] = {}
    """More variables that checks get, by the worker's own configuration."""

    @property
    def environ(self) -> dict[str, str]:
        return {**self.variables, "AOT_RUN_ID": self.mark}

    def end_all(self) -> None:
        """At once, and without waiting for the server: the next worker delivers what is on disk."""
        self.delivery.leave()
        for work in list(self.running.values()):
            end_at_once(work)

    async def carry_out(
        self,
        making: Coroutine[Any, Any, R],
        status: Status,
        without: Callable[[str, str], R],
        finished: Callable[[R], R] = lambda result: result,
    ) -> NoReturn:
        """`without`: the result if there is none, by its kind and the reason."""
        work = asyncio.create_task(making)
        name = activity.info().activity_id
        self.running[name] = work
        work.add_done_callback(lambda _: self.running.pop(name, None))
        async with lifeline(self.client, work, status.beat) as ended:
            while not work.done():
                try:
                    await asyncio.wait([work])
                except asyncio.CancelledError:  # this worker ends
                    work.cancel()
            content = msgspec.json.encode(finished(_result(work, ended.reason, without)))
            if len(content) > LARGEST_MESSAGE:
                size = f"its result is too large to be sent: {len(content)} bytes"
                content = msgspec.json.encode(finished(without("oversized", size)))
            status.phase = "delivering"
            parcel = Parcel(token=activity.info().task_token, content=content)
            await asyncio.shield(asyncio.ensure_future(self.delivery.deliver(parcel)))
        _is_delivered()


def _result(work: asyncio.Task[R], reason: str, without: Callable[[str, str], R]) -> R:
    if work.cancelled():
        return without("cancelled", reason) if reason else without("hindered", "its worker was stopped")
    error = work.exception()
    return without("hindered", _said(error)) if error is not None else work.result()


def _is_delivered() -> NoReturn:
    activity.raise_complete_async()


def _said(error: BaseException) -> str:
    return error.message if isinstance(error, AotError) else f"{type(error).__name__}: {error}"
