"""A worker: takes orders from one queue, as many at once as it has slots, until it is asked to end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import msgspec
from temporalio.worker import Worker

from aotloop.agents.contract import Backend
from aotloop.config.remote_settings import RemoteSettings, WorkerSettings
from aotloop.core.effects import Role
from aotloop.errors import Unavailable
from aotloop.flock import lock_file
from aotloop.process.process_group import kill_orphans
from aotloop.process.process_table import process_of
from aotloop.process.sandbox import Policy
from aotloop.remote.connection import connect, require_namespace
from aotloop.remote.wire import check_queue
from aotloop.remote.worker.attempt_activity import AttemptActivity
from aotloop.remote.worker.check_activity import CheckActivity
from aotloop.remote.worker.delivery import Delivery
from aotloop.remote.worker.lifeline import THROTTLE
from aotloop.remote.worker.mirrors import Mirrors
from aotloop.remote.worker.order_acceptance import Acceptance, forget_old_orders
from aotloop.remote.worker.workbench import Workbench
from aotloop.remote.worker.worker_storage import make_room, remove_records

_THREADS = 256
TIDY_SECONDS = 3600.0


class WorkerPlan(msgspec.Struct, frozen=True, kw_only=True):
    remote: RemoteSettings
    worker: WorkerSettings
    home: Path
    fence: Policy | None
    hire: Callable[[str, Role], Backend]
    say: Callable[[str], None]
    variables: Mapping[str, str] = {}
    """More variables for checks."""

    @property
    def mark(self) -> str:
        """Never the id of a run: a runner on the same machine ends what has the id of its run."""
        return f"worker-{sha256(os.fsencode(self.home.resolve())).hexdigest()[:12]}"


def run_worker(plan: WorkerPlan) -> None:
    """Blocks until a signal. Raises Unavailable."""
    if not plan.worker.repositories or not plan.worker.agents:
        raise Unavailable(
            "this worker would accept nothing: its configuration names no repository or no agent",
            hint="Set `agents` and `repositories` in [worker] of ~/.config/aotloop/config.toml.",
        )
    try:
        plan.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = lock_file(plan.home / ".lock")
    except OSError as error:
        raise Unavailable(f"the home of the worker cannot be used: {plan.home}: {error.strerror}") from error
    if lock is None:
        raise Unavailable(f"another worker uses {plan.home}", hint="Give this one another home: --home DIR.")
    try:
        if kill_orphans(plan.mark):
            plan.say("ended what an earlier worker had left running")
        forget_old_orders(plan.home)
        for what in make_room(plan.home, plan.worker.cache):
            plan.say(f"removed {what}, to make room")
        process_of(os.getpid())  # loads what agents that have to die at once would wait for
        asyncio.run(_work(plan))
    finally:
        kill_orphans(plan.mark)
        os.close(lock)


async def _work(plan: WorkerPlan) -> None:
    loop, stop, hurry = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, "aot"))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _asked_to_end, stop, hurry)
    host = socket.gethostname()
    client = await connect(plan.remote, identity=f"aot worker {os.getpid()}@{host}")
    await require_namespace(client)
    delivery = Delivery(client, plan.home / "parcels", plan.say)
    mirrors = Mirrors(plan.home, plan.worker.repositories, plan.fence, plan.mark)
    bench = Workbench(
        client=client,
        home=plan.home,
        mirrors=mirrors,
        delivery=delivery,
        acceptance=_acceptance(plan),
        mark=plan.mark,
        host=f"{host}:{plan.home.name}",
        variables=plan.variables,
    )
    if left := await delivery.deliver_left():
        plan.say(f"delivered {left} results of an earlier worker")
    hurrying = asyncio.create_task(_end_in_a_hurry(bench, hurry))
    try:
        async with AsyncExitStack() as stack:
            for worker in _workers(plan, bench):
                await stack.enter_async_context(worker)
            checks = f", {plan.worker.checks} for checks" if plan.worker.checks else ""
            plan.say(f"ready: {plan.worker.slots} slots for the queue {plan.worker.queue}{checks}")
            tidying = asyncio.create_task(_tidy(plan, bench))
            await stop.wait()
            tidying.cancel()
            plan.say("ends: takes no more orders, and waits for its attempts; asked once more, it ends them")
    finally:
        hurrying.cancel()
        await asyncio.to_thread(mirrors.close)


def _asked_to_end(stop: asyncio.Event, hurry: asyncio.Event) -> None:
    (hurry if stop.is_set() else stop).set()


async def _end_in_a_hurry(bench: Workbench, hurry: asyncio.Event) -> None:
    await hurry.wait()
    bench.end_all()


async def _tidy(plan: WorkerPlan, bench: Workbench) -> None:
    """A worker may run for months."""
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        await asyncio.to_thread(remove_records, plan.home, plan.worker.cache, tuple(bench.running))


def _acceptance(plan: WorkerPlan) -> Acceptance:
    worker = plan.worker
    return Acceptance(plan.home, repositories=tuple(worker.repositories), agents=worker.agents, least=worker.free_space)


def _workers(plan: WorkerPlan, bench: Workbench) -> Iterator[Worker]:
    """Checks have a queue and slots of their own: two queues that share slots starve each other."""
    settings = plan.worker
    kinds: list[tuple[str, Callable[..., object], int]] = [
        (settings.queue, AttemptActivity(bench, plan.hire).attempt, settings.slots)
    ]
    if settings.checks:
        kinds.append((check_queue(settings.queue), CheckActivity(bench).check, settings.checks))
    for queue, carry_out, slots in kinds:
        yield Worker(
            bench.client,
            task_queue=queue,
            activities=[carry_out],
            max_concurrent_activities=slots,
            max_heartbeat_throttle_interval=timedelta(seconds=THROTTLE),
            default_heartbeat_throttle_interval=timedelta(seconds=THROTTLE),
            graceful_shutdown_timeout=timedelta(seconds=settings.drain),
        )
