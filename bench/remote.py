"""`python -m bench.remote [--workers N] [--sleepers N] [--short N]`: attempts through workers, beside local ones.

It starts Temporal's development server and workers on this machine. Times are ratios to local attempts where that is
possible, because everything shares the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace
from tests.execution.makers import Workshop, a_repository, worktrees_of
from tests.remote.cluster import WorkerProcess, a_server
from tests.remote.workshops import a_maker

from aotloop.config.remote_settings import RemoteSettings
from aotloop.execution.conversation import Conversations
from aotloop.execution.local_maker import LocalMaker
from aotloop.execution.maker import Lost, Order


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.remote", description=__doc__)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--sleepers", type=int, default=200)
    parser.add_argument("--short", type=int, default=100)
    given = parser.parse_args()
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    with tempfile.TemporaryDirectory(prefix="aot-bench-") as folder, ExitStack() as stack:
        top = Path(folder)
        os.environ["HOME"] = str(top)
        server = stack.enter_context(a_server(top / "server"))
        os.environ["TEMPORAL_ADDRESS"] = server.address
        root = a_repository(top / "project")
        slots = -(-given.sleepers // given.workers)
        for number in range(given.workers):
            home = top / f"worker-{number}"
            home.mkdir()
            worker = WorkerProcess(server, home, {"project": root}, "bench", slots=slots)
            worker.start()
            stack.callback(worker.end, at_once=True)
        worktrees = worktrees_of(root, top / "worktrees")
        stack.callback(worktrees.close)
        _measure(top, Workshop(root, worktrees, None, []), given)  # type: ignore[arg-type]


def _measure(top: Path, workshop: Workshop, given: argparse.Namespace) -> None:
    at_once = 8
    workshop.maker = LocalMaker(
        isolation=workshop.worktrees,
        records=lambda name, number: top / "local" / f"{name}-{number}",
        state_file=top / "none",
        on_output=lambda _, __: None,
        conversations=Conversations(),
    )
    local = asyncio.run(_short(workshop, given.short, at_once))
    workshop.maker = a_maker(top, workshop.run_id, "bench", [], RemoteSettings(), wait=600.0, heartbeat=60.0)
    asyncio.run(_short(workshop, given.workers * 2, at_once))  # mirrors and worktrees are made
    workshop.maker = a_maker(top, workshop.run_id, "bench", [], RemoteSettings(), wait=600.0, heartbeat=60.0)
    remote = asyncio.run(_short(workshop, given.short, at_once))
    print(f"short attempts, {at_once} at once: {given.short / local:.1f}/s local, {given.short / remote:.1f}/s remote")
    print(f"an attempt elsewhere takes {remote / local:.2f} times as long as here")
    workshop.maker = a_maker(
        top, workshop.run_id, "bench", workshop.heard, RemoteSettings(), wait=600.0, heartbeat=60.0
    )
    began, ended = asyncio.run(_sleepers(top, workshop, given.sleepers))
    print(f"{given.sleepers} sleeping attempts on {given.workers} workers: all running after {began:.1f} s")
    print(f"all of them cancelled: the last agent is dead after {ended:.2f} s")


async def _short(workshop: Workshop, count: int, at_once: int) -> float:
    gate = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with gate:
            await _made(workshop, workshop.order(f"echo {number} > file-{number}", name=f"S{number}"))

    began = time.monotonic()
    await asyncio.gather(*map(one, range(count)))
    return time.monotonic() - began


def _sleeps(pid: str) -> bool:
    """Another process may have the same number by now."""
    try:
        return Path("/proc", pid, "cmdline").read_bytes() == b"sleep\x003600\x00"
    except OSError:
        return False


async def _made(workshop: Workshop, order: Order) -> None:
    """A lost order is given again, as a run does it."""
    while isinstance(lost := await workshop.made(order), Lost):
        print(f"lost: {lost.ended.reason}", flush=True)
        order = replace(order, task=replace(order.task, number=order.task.number + 100_000))


async def _sleepers(top: Path, workshop: Workshop, count: int) -> tuple[float, float]:
    """Seconds until all run, and until all are dead after a cancellation."""
    folder = top / "pids"
    folder.mkdir()
    began = time.monotonic()
    orders = [workshop.order(f"echo $$ > {folder}/{n}; exec sleep 3600", name=f"L{n}") for n in range(count)]
    tasks = [asyncio.create_task(_made(workshop, order)) for order in orders]
    while len(list(folder.iterdir())) < count:  # noqa: ASYNC110 - other processes write them
        await asyncio.sleep(0.05)
    running = time.monotonic() - began
    await asyncio.sleep(2)
    began = time.monotonic()
    for task in tasks:
        task.cancel()
        asyncio.get_running_loop().call_later(0.3, task.cancel)
    pids = [(folder / str(n)).read_text().strip() for n in range(count)]
    while any(map(_sleeps, pids)):  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.01)
    dead = time.monotonic() - began
    await asyncio.gather(*tasks, return_exceptions=True)
    return running, dead


if __name__ == "__main__":
    main()
