"""The start of processes. Only this module starts them; `Process` hides subprocess from callers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from typing import IO

from aotloop.process.environment import MARKS
from aotloop.process.orphans import adopt_orphans
from aotloop.process.sandbox.enclosure import Enclosure, Guard, enclosed
from aotloop.process.sandbox.thread_rules import in_own_thread, without_sockets
from aotloop.process.spec import ProcessSpec

_GLANCE = 0.005
_LONGEST_REAP = 10.0
"""Seconds. A reaper needs milliseconds, unless a process hangs in the kernel."""
_INPUTS = {"nothing": subprocess.DEVNULL, "pipe": subprocess.PIPE}
_OUTPUTS = {"pipe": subprocess.PIPE, "inherit": None, "stdout": subprocess.STDOUT}


class Process:
    """A started process that must be waited for."""

    def __init__(
        self, popen: subprocess.Popen[bytes], mark: str | None, started: float, guard: Guard | None = None
    ) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.mark = mark
        """The value that all its descendants have in their environment; None: no mark."""
        self.started = started
        """The time on the monotonic clock."""
        self._status: int | None = None
        self.guard = guard
        """Ends all that it started; None: they have to be found."""

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._popen.stdin

    @property
    def outputs(self) -> dict[str, IO[bytes]]:
        """The pipes to read, by name."""
        pipes = {"stdout": self._popen.stdout, "stderr": self._popen.stderr}
        return {name: pipe for name, pipe in pipes.items() if pipe is not None}

    @property
    def status(self) -> int | None:
        """The last result of `poll`: an exit code, or a signal as a negative number; None: not known to have ended."""
        return self._status

    def poll(self) -> int | None:
        """Checks the status and returns at once."""
        if self._status is None:
            self._status = self._popen.poll() if self._reaper is None else self._heard(self._reaper)
        return self._status

    @property
    def _reaper(self) -> Guard | None:
        return self.guard if self.guard is not None and not self.guard.is_namespace else None

    def _heard(self, reaper: Guard) -> int | None:
        heard = reaper.hear()
        if heard is None:
            return None
        status, is_anything_left = heard
        if not is_anything_left:
            self._popen.wait()  # it ends now, or was killed
        return status if status is not None else self._popen.returncode

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it ended within this time."""
        deadline = time.monotonic() + seconds if seconds is not None else None
        while self._reaper is not None and self.poll() is None:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(_GLANCE)
        if self._reaper is None:
            try:
                self._status = self._popen.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
        return True

    def is_guarded(self) -> bool:
        """Whether its reaper still has processes to end."""
        return self._reaper is not None and self._popen.poll() is None

    def send(self, number: int) -> None:
        """Sends a signal to this process only; does nothing if it has ended."""
        self._popen.send_signal(number)

    def let_go(self) -> None:
        """Stops following it: ends every process that its guard still holds."""
        if self.guard is None:
            return
        self.guard.end()
        if self._reaper is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_LONGEST_REAP)
        self.guard.close()

    @contextlib.contextmanager
    def end_descriptor(self) -> Iterator[int | None]:
        """A descriptor that becomes readable when the process ends; None where the system has none (macOS)."""
        if self._reaper is not None and self._reaper.told is not None:
            yield self._reaper.told.fileno()
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
    started = time.monotonic()
    with _standard_input(spec) as stdin, enclosed(spec, env) as enclosure:
        if spec.mark in MARKS and enclosure.guard is None:
            adopt_orphans()
        begin = partial(_popen, spec, enclosure, stdin)
        popen = in_own_thread(partial(without_sockets, begin), _until_end) if enclosure.is_scoped else begin()
    return Process(popen, mark, started, enclosure.guard)


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
