"""The start of processes. Only this module starts them; `Process` hides subprocess from callers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import IO

from aotloop.process import streams
from aotloop.process.environment import MARKS
from aotloop.process.sandbox.bubblewrap import Socket
from aotloop.process.sandbox.enclosure import Enclosure, Guard, Namespace, enclosed
from aotloop.process.sandbox.fork_server import start_below_reaper
from aotloop.process.sandbox.reaper_client import Reaper
from aotloop.process.sandbox.thread_rules import in_own_thread, without_sockets
from aotloop.process.spec import ProcessSpec

_PR_SET_CHILD_SUBREAPER = 36
_TRIES = 5
"""A socket that is to be hidden can vanish meanwhile. The next try hides only those that are still there."""
_LONGEST_REAP = 10.0
"""Seconds. A reaper needs milliseconds, unless a process hangs in the kernel."""
_INPUTS = {"nothing": subprocess.DEVNULL, "pipe": subprocess.PIPE}
_OUTPUTS = {"pipe": subprocess.PIPE, "inherit": None, "stdout": subprocess.STDOUT}


class Process:
    """A started process that must be waited for."""

    def __init__(
        self,
        child: subprocess.Popen[bytes] | Reaper,
        pipes: Mapping[str, IO[bytes] | None],
        mark: str | None,
        started: float,
        guard: Guard | None = None,
    ) -> None:
        """`pipes`: our ends of its streams, by name."""
        self._child = child
        self._pipes = pipes
        self.pid = child.pid
        """With a reaper: that of the reaper, which leads the session."""
        self.mark = mark
        """The value that all its descendants have in their environment; None: no mark."""
        self.started = started
        """The time on the monotonic clock."""
        self._status: int | None = None
        self.guard = guard
        """Ends all that it started; None: they have to be found."""

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._pipes.get("stdin")

    @property
    def outputs(self) -> dict[str, IO[bytes]]:
        """The pipes to read, by name."""
        return {name: pipe for name, pipe in self._pipes.items() if pipe is not None and name != "stdin"}

    @property
    def status(self) -> int | None:
        """The last result of `poll`: an exit code, or a signal as a negative number; None: not known to have ended."""
        return self._status

    def poll(self) -> int | None:
        """Checks the status and returns at once."""
        if self._status is None:
            self._status = self._child.poll()
        return self._status

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it ended within this time."""
        try:
            self._status = self._child.wait(seconds)
        except (subprocess.TimeoutExpired, TimeoutError):
            return False
        return True

    def is_guarded(self) -> bool:
        """Whether its reaper still has processes to end."""
        return isinstance(self._child, Reaper) and not self._child.is_gone()

    def send(self, number: int) -> None:
        """Sends a signal to this process only; does nothing if it has ended."""
        self._child.send_signal(number)

    def let_go(self) -> None:
        """Stops following it: ends every process that its guard still holds."""
        if isinstance(self._child, Reaper):
            self._child.end()
            self._child.wait_for_end(_LONGEST_REAP)
            self._child.close()
        elif self.guard is not None:
            self.guard.close()

    @contextlib.contextmanager
    def end_descriptor(self) -> Iterator[int | None]:
        """A descriptor that becomes readable when the process ends; None where the system has none (macOS)."""
        if isinstance(self._child, Reaper):
            yield self._child.fileno()
            return
        try:
            descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def start(spec: ProcessSpec) -> Process:
    """Raises OSError or ValueError if it cannot be started, and Unavailable if it cannot be confined."""
    env, mark = dict(spec.env), None
    if spec.mark is not None:
        mark = os.urandom(16).hex()
        outer = env.get(spec.mark)
        env[spec.mark] = f"{outer}:{mark}" if outer else mark  # inside a marked process, it has both marks
    started, tries, lasting = time.monotonic(), 0, None
    with _standard_input(spec) as stdin:
        while True:
            process, tries = _started(spec, env, stdin, mark, started, lasting), tries + 1
            space = process.guard
            if not isinstance(space, Namespace) or _is_set_up(process, space) or tries == _TRIES:
                return process
            _clear_away(process)
            lasting = space.sockets


def _started(
    spec: ProcessSpec,
    env: dict[str, str],
    stdin: int,
    mark: str | None,
    started: float,
    lasting: frozenset[Socket] | None,
) -> Process:
    with enclosed(spec, env, lasting) as enclosure:
        if enclosure.command is not None:
            with streams.opened(spec, stdin) as (theirs, ours):
                folder = spec.cwd if spec.cwd is not None else Path.cwd()
                reaper = start_below_reaper(enclosure.command, folder, theirs, _launch)
            return Process(reaper, ours, mark, started, reaper)
        if spec.mark in MARKS and enclosure.namespace is None:
            adopt_orphans()
        begin = partial(_popen, spec, enclosure, stdin)
        popen = in_own_thread(partial(without_sockets, begin), _until_end) if enclosure.is_scoped else begin()
    pipes = {"stdin": popen.stdin, "stdout": popen.stdout, "stderr": popen.stderr}
    return Process(popen, pipes, mark, started, enclosure.namespace)


def _is_set_up(process: Process, space: Namespace) -> bool:
    try:
        return space.is_set_up()
    except BaseException:
        process.send(signal.SIGKILL)
        _clear_away(process)
        raise


def _clear_away(process: Process) -> None:
    """Its bubblewrap has ended, or ends: what it should hide was gone, say."""
    process.wait()
    for pipe in (process.stdin, *process.outputs.values()):
        if pipe is not None:
            pipe.close()
    process.let_go()


def _until_end(popen: subprocess.Popen[bytes]) -> None:
    """Waits, and leaves it to others to take note of its end."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)


def _popen(spec: ProcessSpec, enclosure: Enclosure, stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the caller has asked whether the person accepted it
        enclosure.argv,
        cwd=spec.cwd,
        env=enclosure.env,
        stdin=stdin,
        stdout=_OUTPUTS[spec.stdout],
        stderr=_OUTPUTS[spec.stderr],
        bufsize=0,
        start_new_session=spec.own_session,
        pass_fds=(*spec.held, *enclosure.held),
    )


def _launch(argv: tuple[str, ...], env: dict[str, str], held: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - a program of ours
        argv, cwd="/", env=env, stdin=subprocess.DEVNULL, start_new_session=True, pass_fds=(held,)
    )


@contextlib.contextmanager
def _standard_input(spec: ProcessSpec) -> Iterator[int]:
    """Bytes are passed as a file, not as a pipe: so a process that does not read all of them blocks nothing."""
    if isinstance(spec.stdin, str):
        yield _INPUTS[spec.stdin]
        return
    import tempfile  # noqa: PLC0415 - most processes get no input

    with tempfile.TemporaryFile() as file:
        file.write(spec.stdin)
        file.seek(0)
        yield file.fileno()


@cache
def adopt_orphans() -> None:
    """Processes that lost their parent become children of this process. Once for a process, and only on Linux.

    So a daemon that a command left behind without a fence still has this process among its ancestors. By them it is
    known that it speaks for no person (`aotloop.process.ancestry`).
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - behind a fence it is not needed

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
