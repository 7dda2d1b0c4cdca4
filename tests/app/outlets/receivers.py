"""Services on this machine that take what a run sends: they keep it, refuse it, or never answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal


class Receiver:
    def __init__(self, manner: Literal["takes", "refuses", "hangs"] = "takes") -> None:
        self.manner = manner
        self.got: list[tuple[str, bytes]] = []
        self.over = threading.Event()
        self.address = ""


@contextmanager
def receiving(manner: Literal["takes", "refuses", "hangs"] = "takes") -> Iterator[Receiver]:
    receiver = Receiver(manner)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            if receiver.manner == "hangs":
                receiver.over.wait()
            self.send_response(200 if receiver.manner == "takes" else 500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        receiver.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.over.set()
            server.shutdown()
            thread.join()
