"""The parent of processes that tests start: it imports all of aotloop once, and forks for each connection.

`python -m tests.warm_parent SOCKET`, until its standard input is closed. A connection brings what to run and the three
standard streams; it is answered with the number of the process, and with its status when it has ended. A process that
stands for its client (tests/warm_client.py) is killed when the client ends, with all of its group.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import io
import marshal
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import termios
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import aotloop


def main(address: str) -> None:
    gc.disable()
    for module in pkgutil.walk_packages(aotloop.__path__, "aotloop."):
        import_module(module.name)
    gc.enable()
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
                    _tell_who_ended(watched, selector)
                elif key.fileobj is listening:
                    connection = listening.accept()[0]
                    if (pid := _fork(connection, watched)) is not None:
                        selector.register(connection, selectors.EVENT_READ, pid)
                elif key.data in watched:  # its client has ended
                    selector.unregister(key.fileobj)
                    _kill(key.data)


def _tell_who_ended(watched: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    for pid in list(watched):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with watched.pop(pid) as connection:
                if connection in selector.get_map():
                    selector.unregister(connection)
                try:
                    connection.sendall(status.to_bytes(8, "big"))
                except OSError:
                    continue  # the test did not want to know


def _kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # it does not lead a group yet
        os.kill(pid, signal.SIGKILL)


def _fork(connection: socket.socket, watched: dict[int, socket.socket]) -> int | None:
    """The process, if it has to end with its client."""
    length, streams, _, _ = socket.recv_fds(connection, 8, 3)
    order = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
    told: dict[str, Any] = marshal.loads(order)
    pid = os.fork()
    if pid == 0:
        _become(told, streams)
    for stream in streams:
        os.close(stream)
    watched[pid] = connection
    connection.sendall(pid.to_bytes(8, "big"))
    return pid if told.get("stands_for_client") else None


def _become(order: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """What a new interpreter would have, would do, and would do at its end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in order["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    if order.get("stands_for_client"):
        os.setsid()
    if order.get("terminal"):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.stdin, sys.stdout, sys.stderr = (_opened(number) for number in range(3))
    sys.argv = order["argv"]
    code: object = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as leaving:
        code = leaving.code
    except KeyboardInterrupt:  # so early or late that no code of ours has taken it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except Exception:  # noqa: BLE001 - as an interpreter tells it
        sys.excepthook(*sys.exc_info())
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for written in (sys.stdout, sys.stderr):
            try:
                written.flush()
            except OSError:
                code = 120
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _opened(number: int) -> io.TextIOWrapper:
    binary = open(number, "wb" if number else "rb", closefd=False)  # noqa: SIM115
    is_prompt = os.isatty(number) or number == 2
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(binary, encoding="utf-8", errors=errors, line_buffering=is_prompt)


if __name__ == "__main__":
    main(sys.argv[1])
