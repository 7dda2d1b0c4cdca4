"""Follows one process to its end from the calling thread: output, end, limits and cancellation together.

One wait serves all of them, so that none can delay another.
"""

from __future__ import annotations

import contextlib
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Literal, NamedTuple

from aotloop.process.cancellation import Cancellation
from aotloop.process.exit_status import Completed
from aotloop.process.output import Pipe, Sink, Whole
from aotloop.process.process_group import ProcessGroup, end_group, end_process
from aotloop.process.spawn import Process, start
from aotloop.process.spec import Expiry, Limits, ProcessSpec, next_expiry

_TICK_SECONDS = 0.02
_LONG_SECONDS = 60.0
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""Epoll costs three more system calls for each process, and has no benefit for a few descriptors."""


def run(
    spec: ProcessSpec, *, out: Sink | None = None, err: Sink | None = None, cancellation: Cancellation | None = None
) -> Completed:
    """`out`, `err`: sinks for the output. Raises the errors of `start`."""
    sinks = {"stdout": out or Whole(), "stderr": err or Whole()}
    ours = Cancellation()
    with contextlib.ExitStack() as stack:
        if cancellation is not None:
            stack.enter_context(cancellation.calling(ours.cancel))
        stack.enter_context(deferred_interrupts(ours, spec.ending.interrupt))
        if ours.cancelled:
            return Completed(cancelled=True)
        return _Running(spec, start(spec), sinks, ours).until_end()


class _Stream(NamedTuple):
    pipe: Pipe
    sink: Sink


class _Running:
    def __init__(self, spec: ProcessSpec, process: Process, sinks: dict[str, Sink], cancellation: Cancellation) -> None:
        self._spec = spec
        self._process = process
        self._cancellation = cancellation
        self._streams = [_Stream(Pipe(file), sinks[name]) for name, file in process.outputs.items()]
        self._last_output: float | None = None

    def until_end(self) -> Completed:
        try:
            expiry = self._follow(self._spec.limits)
            status = self._process.status  # read before anything is killed: later it may be our own signal
            if status is not None:
                self._linger()
        finally:
            # After an exception, leave no process behind either.
            self._clear_away()
        return Completed(
            status=status,
            expiry=expiry,
            cancelled=status is None and expiry is None,
            seconds=time.monotonic() - self._process.started,
        )

    def _follow(self, limits: Limits) -> Expiry | None:
        """Reads until the process ends, a limit is passed (which is returned) or everything is cancelled."""
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(_Selector())
            for stream in self._streams:
                selector.register(stream.pipe, selectors.EVENT_READ, stream)
            selector.register(stack.enter_context(self._cancellation.descriptor()), selectors.EVENT_READ)
            end = stack.enter_context(self._process.end_descriptor())
            if end is not None:
                selector.register(end, selectors.EVENT_READ)
            longest = _TICK_SECONDS if end is None else _LONG_SECONDS
            while self._process.poll() is None and not self._cancellation.cancelled:
                expiry = next_expiry(limits, self._process.started, self._last_output)
                remaining = expiry.at - time.monotonic()
                if remaining <= 0:
                    return expiry
                for key, _ in selector.select(min(remaining, longest)):
                    if key.data is not None and not self._take(key.data):
                        selector.unregister(key.fileobj)
        return None

    def _take(self, stream: _Stream) -> bool:
        """Reads one chunk, if there is one. False if no more can come."""
        if chunk := stream.pipe.take():
            self._last_output = time.monotonic()
            stream.sink.add(chunk)
        return stream.pipe.is_open

    def _linger(self) -> None:
        """Its children may still write for a while. The output of the process itself is already there."""
        deadline = time.monotonic() + self._spec.ending.linger
        with _Selector() as selector:
            for stream in self._streams:
                if stream.pipe.is_open:
                    selector.register(stream.pipe, selectors.EVENT_READ, stream)
            while selector.get_map() and (ready := selector.select(max(0, deadline - time.monotonic()))):
                for key, _ in ready:
                    if not self._take(key.data):
                        selector.unregister(key.fileobj)
                if time.monotonic() >= deadline:
                    return

    def _clear_away(self) -> None:
        try:
            self._end_what_is_left()
        finally:
            self._process.let_go()
            self._drain()
            for stream in self._streams:
                stream.pipe.close()

    def _end_what_is_left(self) -> None:
        ending, process = self._spec.ending, self._process
        has_ended = process.status is not None
        if has_ended and not ending.clears:
            return
        match ending.reach:
            case "process":
                end_process(process, ending.grace)
            case "group":
                end_group(process, ending.grace)
            case "tree":
                group = ProcessGroup(process.mark, process, process.started, process.guard)
                # Some process holds an open pipe.
                is_held = any(stream.pipe.is_open for stream in self._streams)
                if not has_ended or is_held or group.anything_left():
                    group.kill(ending.grace)

    def _drain(self) -> None:
        for pipe, sink in self._streams:
            if pipe.is_open:
                pipe.drain(sink)


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Handler = Callable[[int, FrameType | None], object]


@contextlib.contextmanager
def deferred_interrupts(cancellation: Cancellation, then: Literal["end", "finish"]) -> Iterator[None]:
    """`end`: a signal cancels; `finish`: only a second signal does. Errors of the caller's handler are raised here."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple[int, FrameType | None]] = []

    def defer(number: int, frame: FrameType | None) -> None:
        caught.append((number, frame))
        if then == "end" or len(caught) > 1:
            cancellation.cancel()

    found = {number: signal.getsignal(number) for number in _SIGNALS}
    # Signals that are ignored, or that end us at once, stay unchanged.
    handlers: dict[int, Handler] = {number: handler for number, handler in found.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, defer)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if caught:
            number, frame = caught[0]
            handlers[number](number, frame)
