"""Relays to the development server: at another address, or only for clients with a certificate."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
def relay(port: int, host: str = "127.0.0.1", context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Its own port at `host`; `port` is the server's."""
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_served(host, context, port, ready)))
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
    ready: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    stop = asyncio.Event()
    server = await asyncio.start_server(lambda near, far: _joined(near, far, port), host, 0, ssl=context)
    ready.set_result((server.sockets[0].getsockname()[1], asyncio.get_running_loop(), stop))
    await stop.wait()
    server.close()


async def _joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    try:
        there, back = await asyncio.open_connection("127.0.0.1", port)
    except OSError:  # the server is away
        writer.transport.abort()
        return
    with suppress(asyncio.CancelledError):  # the test is over
        await asyncio.gather(_pumped(reader, back), _pumped(there, writer))
    for pipe in (writer, back):
        pipe.transport.abort()


async def _pumped(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    with suppress(OSError):
        sink.close()
