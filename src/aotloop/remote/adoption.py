"""Adoption: what a runner that died left at the server. The next attempt at the same atom takes it over.

A check is taken over by its id, which says what is checked. Work of another epoch is not wanted any more, and is ended.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import msgspec
from temporalio.client import ActivityHandle, Client
from temporalio.service import RPCError

from aotloop.core.effects import Role
from aotloop.remote.activities import Activities
from aotloop.remote.earlier_bills import Counted, counted_before, still_wanted
from aotloop.remote.whereabouts import forget_activity
from aotloop.remote.wire import ATTEMPT, CHECK, AttemptOrder, check_prefix, id_prefix

_PATIENCE = timedelta(seconds=10)


class Adopted(msgspec.Struct, frozen=True):
    order: AttemptOrder
    handle: ActivityHandle[bytes]
    counted: Counted = Counted()


class Adoption:
    def __init__(
        self, found: dict[tuple[str, Role], Adopted], checks: set[str], activities: Activities, attempts: Path
    ) -> None:
        self._found = found
        self._checks = checks
        self._activities = activities
        self._attempts = attempts

    def take(self, atom: str, role: Role) -> Adopted | None:
        return self._found.pop((atom, role), None)

    def take_check(self, name: str) -> None:
        self._checks.discard(name)

    async def close(self) -> None:
        """What no attempt took over."""
        for attempt in self._found.values():
            await self._activities.end(attempt.handle)
            forget_activity(self._attempts, attempt.order.id)
        for name in self._checks:
            await self._activities.end(self._activities.handle(name))
        self._found.clear()
        self._checks.clear()


async def adoption(client: Client, activities: Activities, run_id: str, epoch: int, attempts: Path) -> Adoption:
    """Raises RPCError if the server is away. `attempts`: the folder with the folders of attempts."""
    found: dict[tuple[str, Role], Adopted] = {}
    async for handle, is_running in _left(client, activities, run_id, attempts):
        order = await _order_of(handle)
        if order is None or order.run_id != run_id:
            continue
        key, before = (order.atom, order.role), found.get((order.atom, order.role))
        is_latest = before is None or before.order.attempt < order.attempt
        if order.epoch == epoch and is_latest:
            found[key] = Adopted(order, handle, counted_before(attempts, order.id))
            if before is not None:
                await activities.end(before.handle)
            continue
        if is_running:
            await activities.end(handle)
        forget_activity(attempts, order.id)
    return Adoption(found, await _checks_left(client, activities, run_id, epoch), activities, attempts)


async def _left(
    client: Client, activities: Activities, run_id: str, attempts: Path
) -> AsyncIterator[tuple[ActivityHandle[bytes], bool]]:
    prefix, seen = id_prefix(run_id), set()
    async for activity in client.list_activities(_running(prefix, ATTEMPT)):
        seen.add(activity.activity_id)
        yield activities.handle(activity.activity_id), True
    for known in still_wanted(attempts):
        if known.id.startswith(prefix) and known.id not in seen:
            yield activities.handle(known.id), False


async def _checks_left(client: Client, activities: Activities, run_id: str, epoch: int) -> set[str]:
    ours, found = check_prefix(run_id, epoch), set()
    async for activity in client.list_activities(_running(id_prefix(run_id), CHECK)):
        if activity.activity_id.startswith(ours):
            found.add(activity.activity_id)
        else:
            await activities.end(activities.handle(activity.activity_id))
    return found


def _running(prefix: str, kind: str) -> str:
    return f"ActivityId STARTS_WITH '{prefix}' AND ActivityType = '{kind}' AND ExecutionStatus = 'Running'"


async def _order_of(handle: ActivityHandle[bytes]) -> AttemptOrder | None:
    with suppress(RPCError, ValueError, msgspec.MsgspecError):
        told = await handle.describe(include_input=True, rpc_timeout=_PATIENCE)
        content = await told.input([bytes])
        return msgspec.json.decode(content[0], type=AttemptOrder) if content else None
    return None
