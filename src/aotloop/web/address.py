"""Which names of this server a browser may use: a page of another site must not reach it under a name of its own."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

import msgspec

from aotloop.errors import AotError
from aotloop.text.hosts import is_loopback

LOOPBACK = "127.0.0.1"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    host: str
    port: int
    is_tls: bool = False

    @property
    def scheme(self) -> str:
        return "https" if self.is_tls else "http"

    @property
    def url(self) -> str:
        """For the person. The address of all interfaces is none that a browser can open."""
        host = LOOPBACK if self.host in ("0.0.0.0", "") else "::1" if self.host == "::" else self.host  # noqa: S104
        return f"{self.scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def knows(self, host: str | None) -> bool:
        """Whether this `Host` is us: a number, or a name of ours. Only names can be rebound to another address."""
        try:
            parts = urlsplit(f"//{host or ''}")
            name, port = parts.hostname or "", parts.port or (443 if self.is_tls else 80)
        except ValueError:
            return False
        if port != self.port or parts.netloc != host or parts.username is not None:
            return False
        if is_loopback(self.host):
            return name in (self.host, "localhost", LOOPBACK, "::1")
        return name in (self.host, "localhost", socket.gethostname().lower()) or _is_number(name)

    def is_origin(self, origin: str | None, host: str | None) -> bool:
        """Whether a request comes from a page of this server, under the name that the browser uses for it."""
        return origin is not None and host is not None and origin.lower() == f"{self.scheme}://{host}".lower()


def listening_socket(host: str, port: int) -> socket.socket:
    """Bound, so that the port is known before anything is printed. Port 0: any free port."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except (OSError, UnicodeError) as error:
        raise AotError(
            f"the page cannot listen on {host}, port {port or 'any'}: {getattr(error, 'strerror', None) or error}",
            hint="Name another --host or --port; without --port a free one is taken.",
        ) from error
    return listener


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
