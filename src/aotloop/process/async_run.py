"""Follows one process to its end from an event loop. When `run` returns or raises, none of its processes is left.

The end, a limit and a cancellation are waited for together, and none can delay another. A thread does the killing while
output is still read, because a process that is told to end may still print.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from aotloop.process.exit_status import Completed
from aotloop.process.output import Pipe
from aotloop.process.process_group import ProcessGroup
from aotloop.process.spawn import Process, start
from aotloop.process.spec import NEVER, Expiry, Limits, ProcessSpec, next_expiry
from aotloop.process.transport import Listener, Transport

_TICK_SECONDS = 0.02
_MOMENTS = (0.0005, 0.002, 0.005)
"""Seconds. The kernel ends a namespace a moment after its command; to look for its processes costs more."""


async def run(spec: ProcessSpec, listener: Listener) -> Completed:
    """Raises the errors of `start` and of the listener. It always kills everything within a tree."""
    process = start(spec)
    transport = Transport(process.stdin)
    streams = _Streams(process, listener, transport)
    expiry = status = None
    try:
        streams.open()
        listener.begin(transport)
        expiry = await _until_end(process, streams, transport, spec.limits)
        if expiry is None:
            status = process.status  # read before anything is killed: later it may be our own signal
            await streams.until_closed(spec.ending.linger)
    finally:
        try:
            transport.close()
            await _clear_away(ProcessGroup(process.mark, process, process.started, process.guard), spec.ending.grace)
        finally:
            process.let_go()
            streams.close()
    streams.raise_fault()
    return Completed(status=status, expiry=expiry, seconds=time.monotonic() - process.started)


class _Streams:
    """Reads the pipes and passes their data to the listener."""

    def __init__(self, process: Process, listener: Listener, transport: Transport) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._transport = transport
        self._pipes = {name: Pipe(file) for name, file in process.outputs.items()}
        self._closed = asyncio.Event()
        self._fault: Exception | None = None
        self.last_output: float | None = None

    def open(self) -> None:
        for name, pipe in self._pipes.items():
            self._loop.add_reader(pipe, self._readable, name)

    async def until_closed(self, seconds: float) -> None:
        """Waits until no process can print any more, or the time is up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def raise_fault(self) -> None:
        """Raises an error that the listener raised for a chunk of output."""
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        for name, pipe in list(self._pipes.items()):
            pipe.drain(_To(self, name))
            self._let_go(name)

    def _readable(self, name: str) -> None:
        """Reads one chunk, so that other tasks get their turn during a flood."""
        pipe = self._pipes[name]
        if chunk := pipe.take():
            self.hand_on(name, chunk)
        elif not pipe.is_open:
            self._let_go(name)

    def hand_on(self, name: str, chunk: bytes) -> None:
        self.last_output = time.monotonic()
        try:
            self._listener.hear(name, chunk)
        except Exception as fault:  # noqa: BLE001 - raised where the process is waited for, not in the event loop
            self._fault = self._fault or fault
            self._transport.stop()

    def _let_go(self, name: str) -> None:
        pipe = self._pipes.pop(name)
        self._loop.remove_reader(pipe)
        pipe.close()
        if not self._pipes:
            self._closed.set()


class _To:
    """One of the streams, as a sink."""

    def __init__(self, streams: _Streams, name: str) -> None:
        self._streams = streams
        self._name = name

    def add(self, chunk: bytes) -> None:
        self._streams.hand_on(self._name, chunk)


async def _until_end(process: Process, streams: _Streams, transport: Transport, limits: Limits) -> Expiry | None:
    """None if the process has ended or its listener has stopped it; otherwise the limit that it passed."""
    clock = asyncio.get_running_loop().time
    with _end_of(process) as ended:
        transport.on_stop = ended.set
        while process.poll() is None and not transport.is_stopped:
            expiry = next_expiry(limits, process.started, streams.last_output)
            if expiry.at <= clock():
                return expiry
            # The first output may bring a nearer limit, inactivity, so we check this often.
            wake = min(expiry.at, clock() + (limits.inactivity or NEVER))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(wake if wake < NEVER else None):
                    await ended.wait()
    return None


@contextlib.contextmanager
def _end_of(process: Process) -> Iterator[asyncio.Event]:
    """An event that is set when the process ends. asyncio's own event also waits for all holders of the pipes."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    with process.end_descriptor() as descriptor:
        if descriptor is None:
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


class _Ticking:
    """Polls for the end of a process on systems that do not report it."""

    def __init__(self, process: Process, ended: asyncio.Event) -> None:
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


async def _clear_away(group: ProcessGroup, grace: float) -> None:
    """Continues to its end even if it is cancelled. A cancellation only ends the grace period."""
    hurry, cancelled = threading.Event(), False
    for pause in _MOMENTS:
        if not group.ends_by_itself():
            break
        try:
            await asyncio.sleep(pause)
        except asyncio.CancelledError:
            cancelled = True
            hurry.set()
    if group.is_quickly_told() and not group.anything_left():
        _raise_if(cancelled)
        return
    # A separate thread: the shared ones may be busy with the work that has to be ended.
    pool = ThreadPoolExecutor(1)
    work = asyncio.get_running_loop().run_in_executor(pool, _kill_what_is_left, group, grace, hurry)
    pool.shutdown(wait=False)
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled = True
            hurry.set()
    work.result()
    _raise_if(cancelled)


def _raise_if(cancelled: bool) -> None:
    if cancelled:
        raise asyncio.CancelledError


def _kill_what_is_left(group: ProcessGroup, grace: float, hurry: threading.Event) -> None:
    if group.anything_left():
        group.kill(grace, hurry)
