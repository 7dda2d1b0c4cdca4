"""Relays to the development server: at another address, or only for clients with a certificate or an API key."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hpack import Decoder

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME = 9
_HEADERS, _CONTINUATION = 1, 9
_END, _PADDED, _PRIORITY = 0x4, 0x8, 0x20

Signed = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def certificates(folder: Path) -> None:
    """`ca.pem`, and a certificate with its key for the server, a client, and a client of another authority."""
    authority, other = _made("authority", None), _made("another authority", None)
    _write(folder, "ca", authority)
    for name, by in (("server", authority), ("client", authority), ("stranger", other)):
        _write(folder, name, _made(name, by))


def _made(name: str, by: Signed | None) -> Signed:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by[0].subject if by is not None else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]),
            critical=False,
        )
    )
    return builder.sign(by[1] if by is not None else key, hashes.SHA256()), key


def _write(folder: Path, name: str, made: Signed) -> None:
    certificate, key = made
    (folder / f"{name}.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / f"{name}.key").write_bytes(secret)


@contextmanager
def tls_proxy(folder: Path, port: int) -> Iterator[int]:
    """Its own port; `port` is the server's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.load_verify_locations(folder / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    with relay(port, context=context) as own:
        yield own


@contextmanager
def keyed_proxy(folder: Path, port: int, api_key: str) -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Its own port, and the headers of all requests. A request without the key ends its connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.set_alpn_protocols(["h2"])
    seen: list[dict[str, str]] = []
    with relay(port, context=context, gate=lambda: Gate(api_key, seen)) as own:
        yield own, seen


@dataclass
class Delay:
    """Seconds that everything is under way, in each direction: at least, and how much more at most."""

    least: float = 0.0
    more: float = 0.0

    def now(self) -> float:
        return self.least + random.uniform(0.0, self.more)


class Gate:
    """Reads the headers of requests as they pass by (HTTP/2, RFC 9113), and changes nothing."""

    def __init__(self, api_key: str, seen: list[dict[str, str]]) -> None:
        self._wanted = f"Bearer {api_key}"
        self._seen = seen
        self._decoder = Decoder(max_header_list_size=1 << 20)
        self._decoder.max_allowed_table_size = 1 << 16
        self._unread = b""
        self._block = b""
        self._is_open = False

    def lets_pass(self, data: bytes) -> bool:
        self._unread += data
        if not self._is_open:
            if len(self._unread) < len(_PREFACE):
                return True
            self._is_open, self._unread = True, self._unread.removeprefix(_PREFACE)
        while len(self._unread) >= _FRAME and len(self._unread) >= (size := _FRAME + _number(self._unread[:3])):
            frame, self._unread = self._unread[:size], self._unread[size:]
            if frame[3] in (_HEADERS, _CONTINUATION) and not self._is_welcome(frame):
                return False
        return True

    def _is_welcome(self, frame: bytes) -> bool:
        flags, content = frame[4], frame[_FRAME:]
        if frame[3] == _HEADERS and flags & _PADDED:
            content = content[1 : len(content) - content[0]]
        if frame[3] == _HEADERS and flags & _PRIORITY:
            content = content[5:]
        self._block += content
        if not flags & _END:
            return True
        headers = {str(name): str(value) for name, value in self._decoder.decode(self._block)}
        self._block = b""
        self._seen.append(headers)
        return headers.get("authorization") == self._wanted


def _number(content: bytes) -> int:
    return int.from_bytes(content, "big")


@contextmanager
def relay(
    port: int,
    host: str = "127.0.0.1",
    context: ssl.SSLContext | None = None,
    gate: Callable[[], Gate] | None = None,
    delay: Delay | None = None,
) -> Iterator[int]:
    """Its own port at `host`; `port` is the server's. `gate`: one for each connection."""
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_served(host, context, port, gate, delay or Delay(), ready)))
    thread.start()
    own, loop, stop = ready.result()
    try:
        yield own
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


async def _served(
    host: str,
    context: ssl.SSLContext | None,
    port: int,
    gate: Callable[[], Gate] | None,
    delay: Delay,
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    stop = asyncio.Event()
    server = await asyncio.start_server(
        lambda near, far: _joined(near, far, port, gate() if gate is not None else None, delay), host, 0, ssl=context
    )
    ready.set_result((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), stop))
    await stop.wait()
    server.close()


async def _joined(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, gate: Gate | None, delay: Delay
) -> None:
    try:
        there, back = await asyncio.open_connection("127.0.0.1", port)
    except OSError:  # the server is away
        writer.transport.abort()
        return
    with suppress(asyncio.CancelledError):  # the test is over
        await asyncio.gather(_pumped(reader, back, delay, gate), _pumped(there, writer, delay))
    for pipe in (writer, back):
        pipe.transport.abort()


async def _pumped(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, delay: Delay, gate: Gate | None = None
) -> None:
    """What is delayed follows in its order, and as much as comes meanwhile is under way together."""
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    arriving = asyncio.create_task(_arriving(under_way, sink))
    try:
        with suppress(OSError):
            while (data := await source.read(1 << 16)) and (gate is None or gate.lets_pass(data)):
                under_way.put_nowait((loop.time() + delay.now(), data))
    finally:
        under_way.put_nowait((0.0, b""))
        await arriving


async def _arriving(under_way: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while (found := await under_way.get())[1]:
            at, data = found
            arrived = loop.create_future()
            loop.call_at(at, arrived.set_result, None)
            await arrived
            sink.write(data)
            await sink.drain()
    with suppress(OSError):
        sink.close()
