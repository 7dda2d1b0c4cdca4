"""Processes of `aot` that are forked from a parent which has imported it: as real as the installed command, without the
imports that are more than half of what a short run costs. The parent is tests/warm_parent.py.

Each pytest worker has one parent, started when it is first needed. What the loader or the interpreter reads at its
start (LD_PRELOAD, PYTHON…, the locale) cannot be given this way: then the installed command itself is started.
"""

from __future__ import annotations

import atexit
import importlib.util
import marshal
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Protocol

COMMAND = str(Path(sys.executable).with_name("aot"))
READ_AT_START = ("LD_", "PYTHON", "LANG", "LC_", "MALLOC_")
INHERITED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""A process that is started ignores those of them that its parent ignores."""


class Process(Protocol):
    """What tests do with a process; `subprocess.Popen` has all of it."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    @property
    def stdout(self) -> IO[str] | None: ...
    @property
    def stderr(self) -> IO[str] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def communicate(self, input: None = None, timeout: float | None = None) -> tuple[str, str]: ...  # noqa: A002
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def start(arguments: Sequence[str], cwd: Path, env: Mapping[str, str], script: Path | None = None) -> Process:
    """`aot`, or a script of the plugin: nothing on its standard input, and pipes for what it prints."""
    if can_be_forked(env):
        return Piped([str(script or COMMAND), *arguments], cwd, env)
    return subprocess.Popen(
        [COMMAND, *arguments] if script is None else [sys.executable, str(script), *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def program_of(module: str) -> tuple[str, ...]:
    """For tests in which our own code starts `python -m MODULE`: a small client, for which the parent forks it."""
    client, file = Path(__file__).with_name("warm_client.py"), importlib.util.find_spec(module)
    assert file is not None
    return (sys.executable, "-I", "-S", str(client), _parent().address, str(file.origin))


def can_be_forked(env: Mapping[str, str]) -> bool:
    def read_at_start(given: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in given.items() if name.startswith(READ_AT_START)}

    return read_at_start(env) == read_at_start(_parent().environ)


class Forked:
    """The test's end of one process: a connection on which the parent tells how it ended."""

    def __init__(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], streams: Sequence[int], *, terminal: bool = False
    ) -> None:
        """`terminal`: the first of the streams is one, and becomes that which controls the process."""
        ignored = [int(number) for number in INHERITED if signal.getsignal(number) is signal.SIG_IGN]
        told = {"argv": list(argv), "cwd": str(cwd), "env": dict(env), "ignored": ignored, "terminal": terminal}
        order = marshal.dumps(told)
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(_parent().address)
        socket.send_fds(self._connection, [len(order).to_bytes(8, "big")], streams)
        self._connection.sendall(order)
        self.pid = self._received()
        self.returncode: int | None = None

    def _received(self) -> int:
        data = self._connection.recv(8, socket.MSG_WAITALL)
        assert data, "the parent of all forked processes has died"
        return int.from_bytes(data, "big")

    def poll(self) -> int | None:
        if self.returncode is None and _is_readable(self._connection, 0):
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not _is_readable(self._connection, timeout):
                raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(self._received())
            self._connection.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended, and the parent is about to tell so
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Piped(Forked):
    """With nothing on its standard input, and pipes for what it prints."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        ends = (os.open(os.devnull, os.O_RDONLY), out_end, err_end)
        try:
            super().__init__(argv, cwd, env, ends)
        finally:
            for end in ends:
                os.close(end)
        self.stdout: IO[str] = open(out, encoding="utf-8")  # noqa: SIM115, PTH123 - closed by communicate
        self.stderr: IO[str] = open(err, encoding="utf-8")  # noqa: SIM115, PTH123
        self._said = {self.stdout: bytearray(), self.stderr: bytearray()}

    def communicate(self, input: None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        """Everything that it printed and no reader has taken before, once it has ended."""
        assert input is None
        deadline = None if timeout is None else time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            for stream in self._said:
                if not stream.closed:
                    selector.register(stream, selectors.EVENT_READ, stream)
            while selector.get_map():
                ready = selector.select(_left(deadline))
                if not ready:
                    raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
                for key, _ in ready:
                    if data := os.read(key.fd, 1 << 16):
                        self._said[key.data] += data
                    else:
                        selector.unregister(key.data)
                        key.data.close()
        self.wait(_left(deadline))
        out, err = (bytes(data).decode("utf-8") for data in self._said.values())
        return out, err


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0)


def _is_readable(source: socket.socket, timeout: float | None) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        return bool(selector.select(timeout))


class _Parent:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="aot-warm-")
        self.address = str(Path(self._folder.name, "socket"))
        self.environ = dict(os.environ)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm_parent", self.address],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


@cache
def _parent() -> _Parent:
    parent = _Parent()
    atexit.register(parent.end)
    return parent
