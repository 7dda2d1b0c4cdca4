"""The start of processes. Only this module starts them; `Process` hides subprocess from callers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from typing import IO

from aotloop.process.sandbox import confined
from aotloop.process.spec import ProcessSpec

_INPUTS = {"nothing": subprocess.DEVNULL, "pipe": subprocess.PIPE}
_OUTPUTS = {"pipe": subprocess.PIPE, "inherit": None, "stdout": subprocess.STDOUT}


class Process:
    """A started process that must be waited for."""

    def __init__(self, popen: subprocess.Popen[bytes], mark: str | None, started: float) -> None:
        self._popen = popen
        self.pid = popen.pid
        self.mark = mark
        """The value that all its descendants have in their environment; None: no mark."""
        self.started = started
        """The time on the monotonic clock."""

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
        status: int | None = self._popen.returncode
        return status

    def poll(self) -> int | None:
        """Checks the status and returns at once."""
        return self._popen.poll()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it ended within this time."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send(self, number: int) -> None:
        """Sends a signal to this process only; does nothing if it has ended."""
        self._popen.send_signal(number)

    @contextlib.contextmanager
    def end_descriptor(self) -> Iterator[int | None]:
        """A descriptor that becomes readable when the process ends; None where the system has none (macOS)."""
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
    with _standard_input(spec) as stdin:
        popen = confined(spec.confinement, partial(_popen, spec, env, stdin))
    return Process(popen, mark, started)


def _popen(spec: ProcessSpec, env: dict[str, str], stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the caller has asked whether the person accepted it
        spec.argv,
        cwd=spec.cwd,
        env=env,
        stdin=stdin,
        stdout=_OUTPUTS[spec.stdout],
        stderr=_OUTPUTS[spec.stderr],
        bufsize=0,
        start_new_session=spec.own_session,
        pass_fds=spec.held,
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
