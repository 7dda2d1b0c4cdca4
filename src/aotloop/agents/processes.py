"""Follows one process of an attempt to its end; when `run` returns or raises, nothing it started is left.

One attempt = one process that leads its own session, its output followed by the event loop, so that its end, a limit
of time and a cancellation are all waited for at once and none can hold up another. The killing is done in a thread,
while output is still taken: who is told to end may have something to say.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec

from aotloop.agents.contract import Limits
from aotloop.agents.endings import status_in_words
from aotloop.agents.following import Following
from aotloop.agents.launching import Launch, clear_away, start
from aotloop.agents.partners import Partner, Reins
from aotloop.agents.watchdogs import NEVER, Expiry, next_expiry
from aotloop.survivors import Tree

_LINGER_SECONDS = 0.1
"""How long after the process's end a last writer (a `tee`, say) may go on before it is killed."""

_TICK_SECONDS = 0.02


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int | None = None
    signal: int | None = None
    timed_out: Expiry | None = None
    ending: str
    """In words."""
    seconds: float
    stdout: str
    """The last of it."""
    stderr: str
    output: str
    """The last of what it printed to either, in the order it came."""
    notes: tuple[str, ...] = ()


async def run(launch: Launch, on_output: Callable[[str], None], partner: Partner | None = None) -> Ran:
    """Raises Unavailable if nothing could be started. `partner` hears everything instead of `on_output`."""
    mark = uuid.uuid4().hex
    process = start(launch, mark)
    following = Following(launch.transcript, on_output, partner.hear if partner is not None else None)
    reins = Reins(process)
    ending = "cancelled"
    try:
        following.attach(process)
        if partner is not None:
            partner.begin(reins)
        timed_out = await _until_end(process, following, reins, launch.limits)
        status = None
        if timed_out is None:
            status = process.returncode  # taken before anything is killed: later it may be our own signal
            await following.until_closed(_LINGER_SECONDS)
        ending = _in_words(timed_out, status)
    finally:
        try:
            reins.let_go()
            await _clear_away(Tree(mark, process, following.started), launch.grace)
        finally:
            following.close(ending)
            clear_away(launch)
    following.raise_fault()
    return Ran(
        exit_code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        timed_out=timed_out,
        ending=ending,
        seconds=following.seconds,
        stdout=following.tails["stdout"].text(),
        stderr=following.tails["stderr"].text(),
        output=following.output.text(),
        notes=following.problems,
    )


def _in_words(timed_out: Expiry | None, status: int | None) -> str:
    if timed_out is not None:
        return timed_out.reason
    return status_in_words(status) if status is not None else "ended by us"


async def _until_end(
    process: subprocess.Popen[bytes], following: Following, reins: Reins, limits: Limits
) -> Expiry | None:
    """None once the process has ended, or its partner has done with it; else the limit it passed."""
    clock = asyncio.get_running_loop().time
    with _end_of(process) as ended:
        following.on_fault = reins.on_stop = ended.set
        while process.poll() is None and not reins.is_stopped:
            following.raise_fault()
            expiry = next_expiry(limits, following.started, following.last_output)
            if expiry.at <= clock():
                return expiry
            # The first output may bring a nearer limit, inactivity; so that is how often we look.
            wake = min(expiry.at, clock() + (limits.inactivity or NEVER))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(wake if wake < NEVER else None):
                    await ended.wait()
    return None


@contextlib.contextmanager
def _end_of(process: subprocess.Popen[bytes]) -> Iterator[asyncio.Event]:
    """An event that is set when the process ends. asyncio's own waits for whoever holds the pipes, too."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # macOS
        ticking = _Ticking(process, ended)
        try:
            yield ended
        finally:
            ticking.stop()
        return
    loop.add_reader(descriptor, ended.set)
    try:
        yield ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


class _Ticking:
    """Looks again and again, where the system does not tell the end of a process."""

    def __init__(self, process: subprocess.Popen[bytes], ended: asyncio.Event) -> None:
        self._process = process
        self._ended = ended
        self._tick()

    def _tick(self) -> None:
        self._next = asyncio.get_running_loop().call_later(_TICK_SECONDS, self._tick)
        if self._process.poll() is not None:
            self._ended.set()
            self.stop()

    def stop(self) -> None:
        self._next.cancel()


async def _clear_away(tree: Tree, grace: float) -> None:
    """Goes on to its end whoever cancels it; being cancelled only puts an end to the grace."""
    if tree.is_quickly_told() and not tree.anything_left():
        return
    hurry, cancelled = threading.Event(), False
    # A thread of its own: those that all share may be taken by whatever we are to make an end of.
    pool = ThreadPoolExecutor(1)
    work = asyncio.get_running_loop().run_in_executor(pool, _kill_what_is_left, tree, grace, hurry)
    pool.shutdown(wait=False)
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled = True
            hurry.set()
    work.result()
    if cancelled:
        raise asyncio.CancelledError


def _kill_what_is_left(tree: Tree, grace: float, hurry: threading.Event) -> None:
    if tree.anything_left():
        tree.kill(grace, hurry)
