"""Starts and ends the server. It runs in a thread, so that a loop can run in the same process."""

from __future__ import annotations

import ctypes
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import msgspec
import uvicorn

from aotloop.errors import AotError
from aotloop.text.hosts import is_loopback
from aotloop.web.access import Access
from aotloop.web.address import Address, listening_socket
from aotloop.web.connections import MOST_AT_ONCE, Connection
from aotloop.web.routes import application

_NOT_DUMPABLE = 4
"""PR_SET_DUMPABLE."""


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    host: str
    port: int = 0
    tls_cert: str | None = None
    tls_key: str | None = None
    insecure: bool = False
    read_only: bool = False


class Served(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    token: str
    """For the terminal, and for nothing else."""
    access: Access

    @property
    def link(self) -> str:
        """A browser sends what follows `#` to no server, so the token is in no log."""
        return f"{self.url}/#token={self.token}"


@contextmanager
def serving(options: ServerOptions) -> Iterator[Served]:
    """The server answers while this lasts."""
    refuse_open_door(options)
    with closing(listening_socket(options.host, options.port)) as listener:
        yield from _serving(options, listener)


def _serving(options: ServerOptions, listener: socket.socket) -> Iterator[Served]:
    is_tls = options.tls_cert is not None
    address = Address(host=options.host, port=listener.getsockname()[1], is_tls=is_tls)
    access, closing = Access(read_only=options.read_only), threading.Event()
    config = uvicorn.Config(
        application(access, address, closing),
        http=Connection,
        backlog=MOST_AT_ONCE,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)  # the terminal shows the run
    _load(config)
    _close_memory()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="aot serve", daemon=True)
    thread.start()
    try:
        yield Served(url=address.url, token=access.issue(), access=access)
    finally:
        closing.set()
        server.should_exit = True
        thread.join(timeout=5)


def refuse_open_door(options: ServerOptions) -> None:
    """The token crosses the network: so other machines need TLS, or the person's explicit word."""
    if (options.tls_cert is None) != (options.tls_key is None):
        raise AotError("--tls-cert and --tls-key belong together")
    if not is_loopback(options.host) and options.tls_cert is None and not options.insecure:
        raise AotError(
            f"{options.host} can be reached by other machines, and without TLS they can read the token",
            hint="Add --tls-cert and --tls-key; or --insecure, in a network that you trust. `ssh -L` needs neither.",
        )


def _load(config: uvicorn.Config) -> None:
    try:
        config.load()
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise AotError(f"the certificate or its key cannot be used: {error}") from error


def _close_memory() -> None:
    """Other processes of this user can no longer read the memory of this one. Root still can."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
