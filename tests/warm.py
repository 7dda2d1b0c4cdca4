"""Processes of `aot` that are forked from a parent which has imported it: as real as the installed command, without
the imports that are half of what a short run costs.

Each pytest worker has one parent, started when it is first needed. What the loader or the interpreter would read at
its start (LD_PRELOAD, PYTHON…, the locale) cannot be given this way: `can_be_forked` says so, and `Process` then
starts the installed command itself.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol

COMMAND = str(Path(sys.executable).with_name("aot"))
_INHERITED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""A process that is started ignores what its parent ignores."""
READ_AT_START = ("LD_", "PYTHON", "LANG", "LC_", "MALLOC_")


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
        return Forked(arguments, cwd, env, script)
    return subprocess.Popen(
        [COMMAND, *arguments] if script is None else [sys.executable, str(script), *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def can_be_forked(env: Mapping[str, str]) -> bool:
    def read_at_start(given: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in given.items() if name.startswith(READ_AT_START)}

    return read_at_start(env) == read_at_start(_parent().environ)


class Forked:
    """The test's end of one process: its pipes, and a connection on which the parent tells how it ended."""

    def __init__(self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], script: Path | None) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(_parent().address)
        ignored = [number for number in _INHERITED if signal.getsignal(number) is signal.SIG_IGN]
        program = COMMAND if script is None else str(script)
        told = {"argv": [program, *arguments], "cwd": str(cwd), "env": dict(env), "ignored": ignored}
        order = json.dumps(told).encode()
        socket.send_fds(self._connection, [len(order).to_bytes(8, "big")], [out_end, err_end])
        self._connection.sendall(order)
        os.close(out_end)
        os.close(err_end)
        self.stdout: IO[str] = open(out, encoding="utf-8")  # noqa: SIM115, PTH123 - closed by communicate
        self.stderr: IO[str] = open(err, encoding="utf-8")  # noqa: SIM115, PTH123
        self.pid = _received(self._connection)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._connection, selectors.EVENT_READ)
                if not selector.select(timeout):
                    return None
            self.returncode = os.waitstatus_to_exitcode(_received(self._connection))
            self._connection.close()
        return self.returncode

    def communicate(self, input: None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        """Everything that it printed, once it has ended. A second call gives nothing more."""
        assert input is None
        deadline = None if timeout is None else time.monotonic() + timeout
        said = {stream: bytearray() for stream in (self.stdout, self.stderr)}
        with selectors.DefaultSelector() as selector:
            for stream in said:
                if not stream.closed:
                    selector.register(stream, selectors.EVENT_READ, stream)
            while selector.get_map():
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                ready = selector.select(left)
                if not ready:
                    raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
                for key, _ in ready:
                    stream = key.data
                    if data := os.read(key.fd, 1 << 16):
                        said[stream] += data
                    else:
                        selector.unregister(stream)
                        stream.close()
        self.wait(None if deadline is None else max(deadline - time.monotonic(), 0))
        out, err = (bytes(data).decode("utf-8") for data in said.values())
        return out, err

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _received(connection: socket.socket) -> int:
    data = connection.recv(8, socket.MSG_WAITALL)
    assert data, "the parent of all forked processes has died"
    return int.from_bytes(data, "big")


# --- the parent, seen from the tests -------------------------------------------------------------------------------


class _Parent:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="aot-warm-")
        self.address = str(Path(self._folder.name, "socket"))
        self.environ = dict(os.environ)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", self.address],
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


# --- the parent itself ---------------------------------------------------------------------------------------------


def main(address: str) -> None:
    """Forks a process for each connection until standard input is closed, as it is when the tests are over."""
    _import_everything()
    gc.freeze()
    waking, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    watched: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for source in (listening, waking, sys.stdin):
            selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is waking:
                    waking.recv(4096)
                    _tell_who_ended(watched)
                else:
                    connection, _ = listening.accept()
                    _fork(connection, watched)


def _import_everything() -> None:
    import aotloop  # noqa: PLC0415 - only here

    for module in pkgutil.walk_packages(aotloop.__path__, "aotloop."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def _tell_who_ended(watched: dict[int, socket.socket]) -> None:
    for pid in list(watched):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with watched.pop(pid) as connection:
                try:
                    connection.sendall(status.to_bytes(8, "big"))
                except OSError:
                    continue  # the test did not want to know


def _fork(connection: socket.socket, watched: dict[int, socket.socket]) -> None:
    length, descriptors, _, _ = socket.recv_fds(connection, 8, 2)
    order = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
    pid = os.fork()
    if pid == 0:
        _become(json.loads(order), descriptors)
    for one in descriptors:
        os.close(one)
    watched[pid] = connection
    connection.sendall(pid.to_bytes(8, "big"))


def _become(order: dict[str, Any], descriptors: Sequence[int]) -> NoReturn:
    signal.set_wakeup_fd(-1)
    for number in order["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(descriptors[0], 1)
    os.dup2(descriptors[1], 2)
    os.closerange(3, 256)
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(open(number, mode, closefd=False), encoding="utf-8", line_buffering=number == 2)  # noqa: SIM115
        for number, mode in enumerate(("rb", "wb", "wb"))
    )
    sys.argv = order["argv"]
    code: object = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
    except KeyboardInterrupt:  # so early or late that no code of ours has taken it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does at its end
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                code = 120
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    main(sys.argv[1])
