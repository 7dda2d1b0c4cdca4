"""A worker: takes orders from one queue, as many at once as it has slots, until it is asked to end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from aotloop.process.sandbox import Policy
from aotloop.remote.attempt_activity import Acceptance, AttemptActivity
from aotloop.remote.connection import connect, require_namespace
from aotloop.remote.delivery import Delivery
from aotloop.remote.lifeline import BEAT
from aotloop.remote.mirrors import Mirrors, make_room

_THREADS = 256


class WorkerPlan(msgspec.Struct, frozen=True, kw_only=True):
    remote: RemoteSettings
    worker: WorkerSettings
    home: Path
    fence: Policy | None
    hire: Callable[[str, Role], Backend]
    say: Callable[[str], None]

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
        for name in make_room(plan.home, plan.worker.cache):
            plan.say(f"removed the mirror of {name}, to make room")
        asyncio.run(_work(plan))
    finally:
        kill_orphans(plan.mark)
        os.close(lock)


async def _work(plan: WorkerPlan) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, "aot"))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    host = socket.gethostname()
    client = await connect(plan.remote, identity=f"aot worker {os.getpid()}@{host}")
    await require_namespace(client)
    delivery = Delivery(client, plan.home / "parcels", plan.say)
    mirrors = Mirrors(plan.home, plan.worker.repositories, plan.fence, plan.mark)
    bench = AttemptActivity(
        client=client,
        home=plan.home,
        mirrors=mirrors,
        delivery=delivery,
        acceptance=Acceptance(
            repositories=tuple(plan.worker.repositories),
            agents=plan.worker.agents,
            free_space=plan.worker.free_space,
        ),
        hire=plan.hire,
        mark=plan.mark,
        host=f"{host}:{plan.home.name}",
    )
    if left := await delivery.deliver_left():
        plan.say(f"delivered {left} results of an earlier worker")
    worker = Worker(
        client,
        task_queue=plan.worker.queue,
        activities=[bench.attempt],
        max_concurrent_activities=plan.worker.slots,
        max_heartbeat_throttle_interval=timedelta(seconds=BEAT / 10),
        default_heartbeat_throttle_interval=timedelta(seconds=BEAT / 10),
        graceful_shutdown_timeout=timedelta(seconds=plan.worker.drain),
    )
    try:
        async with worker:
            plan.say(f"ready: {plan.worker.slots} slots for the queue {plan.worker.queue}")
            await stop.wait()
            plan.say("ends: takes no more orders")
    finally:
        await asyncio.to_thread(mirrors.close)
