"""The fork server of this process: it starts commands below reapers, each for about one millisecond of a core.

One server serves all commands of a run; it is started with the first one, and ends with us. `reaper` is its program.
"""

from __future__ import annotations

import _socket
import contextlib
import marshal
import os
import select
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Mapping
from io import FileIO
from pathlib import Path
from typing import Protocol

import msgspec

from aotloop.process.environment import REAPER_MARK
from aotloop.process.sandbox.reaper_client import Reaper

_PROGRAM = "import sys; sys.path[0] = sys.argv[1]; import reaper; reaper.main(int(sys.argv[2]))"
_LONGEST_WORD = 64
_LONGEST_START = 10.0
"""Seconds. A reaper needs milliseconds, unless the machine is out of processes."""
_LONGEST_END, _GLANCE = 5.0, 0.001


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What runs below a reaper."""

    program: str
    """Its full path."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    held: tuple[int, ...] = ()
    rules: tuple[str, ...] | None = None
    """The only paths that may be changed (see permitted_paths); None: all paths."""
    folder: str | None = None
    """A folder of files that ends with it."""


class Server(Protocol):
    """The process of the server, as `subprocess` describes it."""

    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self) -> int: ...


Launch = Callable[[tuple[str, ...], dict[str, str], int], Server]
"""Starts a program with these variables, in a session of its own. It keeps this descriptor."""


class ForkServer:
    def __init__(self, mark: str, launch: Launch) -> None:
        """`mark`: the run. The server is not one of its processes, and does not have their marks."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        libraries = {name: value for name, value in os.environ.items() if name.startswith("LD_")}
        argv = (sys.executable, "-E", "-s", "-S", "-c", _PROGRAM, str(Path(__file__).parent), str(theirs.fileno()))
        try:
            self._server = launch(argv, {**libraries, REAPER_MARK: mark}, theirs.fileno())
        finally:
            theirs.close()
        self._link = ours

    def start(self, command: Command, cwd: Path, streams: tuple[int, int, int]) -> Reaper | None:
        """None: the server is not there any more, and the command was not started. Raises OSError."""
        described = _described(command, cwd)
        asked, asking = os.pipe()
        heard, telling = os.pipe()
        control, told = FileIO(asking, "w"), FileIO(heard, "r")
        passed = array("i", [described, asked, telling, *streams, *command.held])
        try:
            with contextlib.suppress(OSError):  # it was killed
                self._link.sendmsg([b"x"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)])
        finally:
            for descriptor in (described, asked, telling):
                os.close(descriptor)
        pid, _, rest = _first_line(told).partition(b" ")
        problem, _, rest = rest.partition(b"\n")
        if pid and problem in {b"", b"0"}:
            os.set_blocking(heard, False)
            return Reaper(int(pid), control, told, rest, command.folder)
        control.close()
        told.close()
        if problem:
            raise OSError(int(problem), os.strerror(int(problem)), command.program)
        return None

    def close(self, *, at_once: bool = False) -> None:
        """What it started goes on. A message asks it to end: a forked copy of this process may keep the link open."""
        with contextlib.suppress(OSError):
            self._link.sendmsg([b"x"], [], _socket.MSG_DONTWAIT)
        self._link.close()
        until = time.monotonic() + (0.0 if at_once else _LONGEST_END)
        while self._server.poll() is None and time.monotonic() < until:
            time.sleep(_GLANCE)
        if self._server.poll() is None:
            self._server.kill()
            self._server.wait()


_servers: dict[str, ForkServer] = {}
_lock = threading.Lock()


def start_below_reaper(command: Command, cwd: Path, streams: tuple[int, int, int], launch: Launch) -> Reaper:
    """Raises OSError, and ValueError for words that no process can be given."""
    _refuse_null_bytes(command)
    mark = command.env.get("AOT_RUN_ID", "")
    for _ in range(2):
        server = _server_of(mark, launch)
        if reaper := server.start(command, cwd, streams):
            return reaper
        dismiss(mark, server)
    raise ChildProcessError(f"{command.argv[0]}: the fork server does not start it")


def _server_of(mark: str, launch: Launch) -> ForkServer:
    with _lock:
        if mark not in _servers:
            if not _servers:
                import atexit  # noqa: PLC0415 - most scripts start no command

                atexit.register(dismiss_all)
            _servers[mark] = ForkServer(mark, launch)
        return _servers[mark]


def dismiss(mark: str, unusable: ForkServer | None = None) -> None:
    """The server of a run ends. `unusable`: only if it is this one, and however it takes that."""
    with _lock:
        found = _servers.get(mark)
        if found is None or unusable not in {None, found}:
            return
        del _servers[mark]
        found.close(at_once=unusable is not None)


def dismiss_all() -> None:
    for mark in list(_servers):
        dismiss(mark)


def _first_line(told: FileIO) -> bytes:
    """The number of the reaper and the problem of the start. Empty or incomplete: it ended before it could tell."""
    heard = b""
    while b"\n" not in heard and select.select([told], [], [], _LONGEST_START)[0]:
        word = told.read(_LONGEST_WORD)
        if not word:
            break
        heard += word
    return heard


def _refuse_null_bytes(command: Command) -> None:
    if any("\0" in word for words in (command.argv, command.env, command.env.values()) for word in words):
        raise ValueError("embedded null byte")


def _described(command: Command, cwd: Path) -> int:
    """As a file in memory: see reaper.Described. Only the reaper reads it, and not the server."""
    env = {os.fsencode(name): os.fsencode(value) for name, value in command.env.items()}
    rules = None if command.rules is None else _encoded(command.rules)
    words = (os.fsencode(command.program), _encoded(command.argv), env, os.fsencode(cwd), command.held, rules)
    descriptor = os.memfd_create("aot")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(marshal.dumps(words))
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _encoded(words: Iterable[str]) -> list[bytes]:
    return [os.fsencode(word) for word in words]
