"""`python -m faults.impostors KIND QUEUE KEY_FILE NUMBER`: takes an order, and does not do what a worker does.

`NUMBER` chooses among forgeries. It prints the id of the order that it took. It is a process of its own, which ends
without the library's farewell.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

import msgspec
from msgspec.structs import replace
from temporalio import activity
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollActivityTaskQueueRequest, PollActivityTaskQueueResponse
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from aotloop.agents.contract import Done
from aotloop.config.remote_settings import RemoteSettings
from aotloop.remote.connection import connect
from aotloop.remote.wire import AttemptOrder, AttemptResult, Beat

PATIENCE = 10.0
"""Seconds for an order to come."""

_POLLS = 6
"""At the same time: a real worker waits for the same orders."""

_TOO_LARGE = 2_500_000


async def _dropped(client: Client, queue: str, _: int) -> str | None:
    """Takes orders as a worker does, and never begins."""
    polls = [asyncio.create_task(_poll(client, queue)) for _ in range(_POLLS)]
    try:
        for done in asyncio.as_completed(polls, timeout=PATIENCE):
            if (found := await done).task_token:
                return found.activity_id
    except TimeoutError:
        pass
    finally:
        for poll in polls:
            poll.cancel()
    return None


async def _poll(client: Client, queue: str) -> PollActivityTaskQueueResponse:
    request = PollActivityTaskQueueRequest(
        namespace=client.namespace, task_queue=TaskQueue(name=queue), identity="an impostor"
    )
    return await client.workflow_service.poll_activity_task_queue(request)


async def _outdated(client: Client, queue: str, _: int) -> str | None:
    """Knows only an earlier version of orders. The library itself refuses others, so nothing is known of them here."""

    @activity.defn(name="aot.attempt.v0")
    async def attempt(_: bytes) -> bytes:
        return b""

    return await _working(Worker(client, task_queue=queue, activities=[attempt]), lambda: None)


async def _forging(client: Client, queue: str, number: int) -> str | None:
    """Has the key, and sends back what no worker would."""
    taken: list[str] = []

    @activity.defn(name="aot.attempt.v1")
    async def attempt(content: bytes) -> bytes:
        order = msgspec.json.decode(content, type=AttemptOrder)
        activity.heartbeat(msgspec.json.encode(Beat(phase="forging", host="impostor")))
        taken.append(order.id)
        return FORGERIES[number % len(FORGERIES)](order)

    worker = Worker(client, task_queue=queue, activities=[attempt], max_concurrent_activities=1)
    return await _working(worker, lambda: taken[0] if taken else None)


async def _working(worker: Worker, taken: Callable[[], str | None]) -> str | None:
    async with worker:
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while taken() is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - at most 10 seconds
            await asyncio.sleep(0.05)
        return taken()


def _result(order: AttemptOrder, **fields: object) -> bytes:
    values = {"kind": "made", "outcome": Done(summary="forged"), **fields}
    made = AttemptResult(run_id=order.run_id, atom=order.atom, attempt=order.attempt, epoch=order.epoch, **values)  # type: ignore[arg-type]
    return msgspec.json.encode(made)


FORGERIES: tuple[Callable[[AttemptOrder], bytes], ...] = (
    lambda order: _result(order, tree="0" * 40),
    lambda order: _result(order, tree="1" * 40, pack=b"PACK" + os.urandom(200)),
    lambda order: _result(order, tree="refs/heads/main"),
    lambda order: _result(order, tree="2" * 40, ref="refs/heads/main"),
    lambda order: _result(replace(order, atom="another", attempt=order.attempt + 1)),
    lambda order: _result(order, outcome=None),
    lambda order: _result(order, pack=os.urandom(_TOO_LARGE)),
    lambda _: os.urandom(1000),
)
KINDS = {"drops": _dropped, "outdated": _outdated, "forges": _forging}


async def _main(kind: str, queue: str, key_file: str, number: str) -> str | None:
    client = await connect(RemoteSettings(key_file=key_file))
    try:
        return await KINDS[kind](client, queue, int(number))
    except RPCError:
        return None


if __name__ == "__main__":
    taken = asyncio.run(_main(*sys.argv[1:]))
    sys.stdout.write(taken or "")
    sys.stdout.flush()
    os._exit(0)
