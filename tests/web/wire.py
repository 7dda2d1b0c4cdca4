"""A wire between a browser and a server that a test can cut and mend. It renames the port in what a browser sends.

While it is deaf, what the server sends gets lost.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Wire:
    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._is_cut = False
        self.is_deaf = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_cut = True
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = self.is_deaf = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                names = (f"127.0.0.1:{self.port}".encode(), f"127.0.0.1:{self._to}".encode())
                threading.Thread(target=self._pipe, args=(near, far, *names), daemon=True).start()
                threading.Thread(target=self._pipe, args=(far, near), daemon=True).start()

    def _pipe(self, source: socket.socket, target: socket.socket, name: bytes = b"", instead: bytes = b"") -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if name:
                    target.sendall(data.replace(name, instead))
                elif not self.is_deaf:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        source.close()


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()
