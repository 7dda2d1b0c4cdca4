"""`python -m bench.remote [--workers N] [--sleepers N] [--short N] [--deaths N]`: attempts through workers.

It starts Temporal's development server and workers on this machine. Times are ratios to local attempts where that is
possible, because everything shares the same cores. `python -m bench.remote_graph` runs a whole loop.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
from msgspec.structs import replace
from tests.execution.makers import Workshop, a_repository, worktrees_of
from tests.remote.cluster import Server, WorkerProcess, a_server
from tests.remote.workshops import a_maker

from aotloop.config.remote_settings import RemoteSettings
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.local_maker import LocalMaker
from aotloop.execution.attempts.maker import Lost, Order

_AT_ONCE = 8
_MB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.remote", description=__doc__)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--sleepers", type=int, default=200, help="attempts that only sleep, all at once; 0: none")
    parser.add_argument("--short", type=int, default=100, help="attempts that take no time; 0: none")
    parser.add_argument("--deaths", type=int, default=50, help="so many are cancelled at once")
    given = parser.parse_args()
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    with tempfile.TemporaryDirectory(prefix="aot-bench-") as folder, ExitStack() as stack:
        top = Path(folder)
        os.environ["HOME"] = str(top)
        server = stack.enter_context(a_server(top / "server"))
        os.environ["TEMPORAL_ADDRESS"] = server.address
        root = a_repository(top / "project")
        slots = -(-max(given.sleepers, given.deaths, 1) // given.workers)
        workers = workers_of(stack, top, server, root, given.workers, slots)
        worktrees = worktrees_of(root, top / "worktrees")
        stack.callback(worktrees.close)
        workshop = Workshop(root, worktrees, None, [])  # type: ignore[arg-type]
        print(f"{given.workers} workers with {slots} slots; load {os.getloadavg()[0]:.0f}", flush=True)
        _measure(top, workshop, server, workers, given)


def workers_of(stack: ExitStack, top: Path, server: Server, root: Path, count: int, slots: int) -> list[WorkerProcess]:
    workers = []
    for number in range(count):
        home = top / f"worker-{number}"
        home.mkdir()
        workers.append(WorkerProcess(server, home, {"project": root}, "bench", slots=slots))
        stack.callback(workers[-1].end, at_once=True)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(WorkerProcess.start, workers))
    return workers


def _measure(
    top: Path, workshop: Workshop, server: Server, workers: Sequence[WorkerProcess], given: argparse.Namespace
) -> None:
    if given.short:
        _compare(top, workshop, given.short, warm=given.workers * 2)
    if given.deaths:
        _use_workers(top, workshop)
        asyncio.run(_sleepers(top / "few", workshop, given.deaths, server, workers))
    if given.sleepers:
        _use_workers(top, workshop)
        asyncio.run(_sleepers(top / "many", workshop, given.sleepers, server, workers))


def _use_workers(top: Path, workshop: Workshop) -> None:
    workshop.maker = a_maker(
        top, workshop.run_id, "bench", workshop.heard, RemoteSettings(), wait=600.0, heartbeat=60.0, first_sign=15.0
    )


def _compare(top: Path, workshop: Workshop, count: int, warm: int) -> None:
    local = LocalMaker(
        isolation=workshop.worktrees,
        records=lambda name, number: top / "local" / f"{name}-{number}",
        state_file=top / "none",
        on_output=lambda _, __: None,
        conversations=Conversations(),
    )
    _use_workers(top, workshop)
    asyncio.run(_short(workshop, warm))  # mirrors and worktrees are made
    ratios = []
    for _ in range(3):  # in turns: what else runs here disturbs both
        workshop.maker = local
        here = asyncio.run(_short(workshop, count))
        _use_workers(top, workshop)
        there = asyncio.run(_short(workshop, count))
        ratios.append(there / here)
        more = (there - here) / count * _AT_ONCE
        print(f"{count} short attempts, {_AT_ONCE} at once: {here:.1f} s here, {there:.1f} s there, {more:+.2f} s each")
    print(f"an attempt elsewhere takes {sorted(ratios)[1]:.2f} times as long as here", flush=True)


async def _short(workshop: Workshop, count: int) -> float:
    gate = asyncio.Semaphore(_AT_ONCE)

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


async def _sleepers(
    folder: Path, workshop: Workshop, count: int, server: Server, workers: Sequence[WorkerProcess]
) -> None:
    folder.mkdir()  # noqa: ASYNC240 - nothing else waits
    began = time.monotonic()
    orders = [workshop.order(f"echo $$ > {folder}/{n}; exec sleep 3600", name=f"L{n}") for n in range(count)]
    tasks = [asyncio.create_task(_made(workshop, order)) for order in orders]
    pids: list[str] = []
    while len(pids) < count or not all(map(_sleeps, pids)):
        await asyncio.sleep(0.05)
        pids = [file.read_text().strip() for file in folder.iterdir()]  # noqa: ASYNC240 - others write them
    alive = sum(map(_sleeps, pids))
    print(f"{count} sleeping attempts on {len(workers)} workers: {alive} run after {time.monotonic() - began:.1f} s")
    await _tell_use(server, workers)
    before = _cpu(server, workers)
    began, deaths, left = time.monotonic(), [], set(pids)
    for task in tasks:
        task.cancel()
        asyncio.get_running_loop().call_later(0.3, task.cancel)
    while left:
        gone = {pid for pid in left if not _sleeps(pid)}
        deaths += [time.monotonic() - began] * len(gone)
        left -= gone
        await asyncio.sleep(0.01)
    used, in_time = _cpu(server, workers) - before, sum(one < 1.0 for one in deaths)
    print(
        f"  all cancelled: {in_time} dead in 1 s; half of them after {deaths[count // 2]:.2f} s, last {deaths[-1]:.2f}"
    )
    print(f"  that took {used:.2f} s of the cores, for runner, server and workers; load {os.getloadavg()[0]:.0f}")
    await asyncio.gather(*tasks, return_exceptions=True)


def _processes(server: Server, workers: Sequence[WorkerProcess]) -> list[psutil.Process]:
    started = [server.process, *(worker.process for worker in workers)]
    return [psutil.Process(one.pid) for one in started if one is not None]


def _cpu(server: Server, workers: Sequence[WorkerProcess]) -> float:
    """Seconds, with this process."""
    return sum(sum(one.cpu_times()[:2]) for one in (psutil.Process(), *_processes(server, workers)))


async def _tell_use(server: Server, workers: Sequence[WorkerProcess], seconds: float = 10.0) -> None:
    """While all of them sleep."""
    its, *theirs = _processes(server, workers)
    before = [sum(one.cpu_times()[:2]) for one in (its, *theirs)]
    await asyncio.sleep(seconds)
    used = [(sum(one.cpu_times()[:2]) - was) / seconds for one, was in zip((its, *theirs), before, strict=True)]
    sizes = sorted(one.memory_info().rss / _MB for one in theirs)
    print(
        f"  the server: {used[0]:.0%} of a core, {its.memory_info().rss / _MB:.0f} MB; "
        f"a worker: {sum(used[1:]) / len(theirs):.0%}, {sizes[len(sizes) // 2]:.0f} MB (most {sizes[-1]:.0f})",
        flush=True,
    )


if __name__ == "__main__":
    main()
