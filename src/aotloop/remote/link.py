"""The link of a run to its server: connected when it is first needed, and shared by all orders of the run.

With the connection comes what a runner that died has left there (`adoption`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from aotloop.errors import AotError
from aotloop.execution.task import Task
from aotloop.remote.activities import Activities
from aotloop.remote.adoption import Adoption, adoption
from aotloop.remote.earlier_bills import still_wanted
from aotloop.remote.server_report import LATELY, pollers
from aotloop.remote.wire import attempt_prefix


class Link:
    def __init__(self, *, connect: Callable[[], Awaitable[Client]], run_id: str, attempts: Path) -> None:
        """`attempts`: our folder with the folders of attempts."""
        self._connect = connect
        self._run_id = run_id
        self._attempts = attempts
        self._left: list[str] | None = None
        self._client: Client | None = None
        self._server: asyncio.Task[tuple[Activities, Adoption]] | None = None

    async def ready(self, epoch: int) -> tuple[Activities, Adoption]:
        """Raises Unavailable, and RPCError if the server is away; the next call tries again."""
        if self._server is None or (self._server.done() and (self._server.cancelled() or self._server.exception())):
            self._server = asyncio.create_task(self._begin(epoch))
        return await asyncio.shield(self._server)

    async def _begin(self, epoch: int) -> tuple[Activities, Adoption]:
        self._client = client = self._client or await self._connect()
        activities = Activities(client)
        return activities, await adoption(client, activities, self._run_id, epoch, self._attempts)

    def has_sent(self, task: Task) -> bool:
        """Whether a run that died has sent an order for this, whose result is not here."""
        if self._left is None:
            self._left = [activity.id for activity in still_wanted(self._attempts)]
        start = attempt_prefix(self._run_id, task.epoch, task.name, task.role)
        return any(name.startswith(start) for name in self._left)

    async def takers(self, queue: str) -> int:
        """How many workers take orders of this queue; none, while the server is away."""
        return await self._counted(queue) or 0

    async def is_deserted(self, queue: str) -> bool:
        """Whether the server says that no worker takes orders of this queue."""
        return await self._counted(queue) == 0

    async def _counted(self, queue: str) -> int | None:
        try:
            if self._client is None:
                self._client = await self._connect()
            return await pollers(self._client, queue, LATELY)
        except (RPCError, AotError):
            return None

    async def close(self) -> None:
        """Ends what was left at the server, and what no order took over."""
        server = self._server
        if server is not None and server.done() and not server.cancelled() and not server.exception():
            await server.result()[1].close()
