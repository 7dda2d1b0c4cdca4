"""Whether the server can be used from here: address, namespace, key, and queues that have workers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, GetSystemInfoRequest
from temporalio.client import Client
from temporalio.service import RPCError

from aotloop.clock import unix_time
from aotloop.config.remote_settings import RemoteSettings
from aotloop.errors import AotError
from aotloop.remote.connection import PATIENCE, connect, is_here, require_namespace, server_of

Found = tuple[str, str, bool | None]
"""Subject, result, and whether it is right; None: worth knowing."""

_PATIENCE = timedelta(seconds=PATIENCE)
LATELY = 120.0
"""Seconds. A worker with a free slot asks for orders at least every minute; the server remembers it for five."""


async def server_findings(settings: RemoteSettings, queues: Sequence[str]) -> list[Found]:
    try:
        server = server_of(settings)
        client = await connect(settings)
        await require_namespace(client)
        version = await client.workflow_service.get_system_info(GetSystemInfoRequest(), timeout=_PATIENCE)
    except AotError as error:
        return [("Temporal server", f"{error.message}. {error.hint or ''}".strip(), False)]
    except RPCError as error:
        return [("Temporal server", error.message, False)]
    how = "encrypted" if server.is_encrypted else "not encrypted"
    said = f"{server.address}, version {version.server_version}, namespace {server.namespace}, {how}"
    sealed = "what is sent is sealed" if server.has_key else "no key: prompts and code are readable at the server"
    found: list[Found] = [("Temporal server", said, True)]
    found.append(("key", sealed, True if server.has_key or is_here(server.address) else None))
    return [*found, *[await _queue(client, queue) for queue in dict.fromkeys(queues)]]


async def _queue(client: Client, queue: str) -> Found:
    try:
        count = await pollers(client, queue)
    except RPCError as error:
        return f"queue {queue}", error.message, False
    return f"queue {queue}", f"{count} workers" if count else "no worker takes orders", True if count else None


async def pollers(client: Client, queue: str, within: float = math.inf) -> int:
    """How many workers asked for orders of this queue, within so many seconds. Raises RPCError."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )
    told = await client.workflow_service.describe_task_queue(request, timeout=_PATIENCE)
    since = unix_time() - within
    return sum(poller.last_access_time.ToSeconds() >= since for poller in told.pollers)
