"""The server for other machines: with a certificate it is there, encrypted, and refuses names that are not its own."""

from __future__ import annotations

import ctypes
import ssl
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from shutil import which

import pytest

from aotloop.errors import AotError
from aotloop.web.server import ServerOptions, serving
from tests.patience import PATIENCE
from tests.web.requests import a_server

_DUMPABLE = 3
"""PR_GET_DUMPABLE."""

needs_openssl = pytest.mark.skipif(which("openssl") is None, reason="openssl, which makes the certificate, is missing")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*made.split(), *names], check=True, capture_output=True)
    return str(cert), str(key)


@needs_openssl
def test_with_a_certificate_other_machines_may_come(certificate: tuple[str, str]) -> None:
    cert, key = certificate
    trusting = ssl.create_default_context(cafile=cert)
    with serving(ServerOptions(host="0.0.0.0", tls_cert=cert, tls_key=key)) as page:
        assert page.url.startswith("https://")
        port = int(page.url.rpartition(":")[2])

        def sent(method: str, path: str, host: str, body: str | None = None) -> tuple[int, str]:
            """The status, and the cookie that is set."""
            with closing(HTTPSConnection("127.0.0.1", port, context=trusting, timeout=PATIENCE)) as wire:
                headers = {"Host": host, "Origin": f"https://{host}", "Content-Type": "application/json"}
                wire.request(method, path, body, headers)
                answer = wire.getresponse()
                return answer.status, answer.getheader("set-cookie") or ""

        ours = f"127.0.0.1:{port}"
        status, cookie = sent("POST", "/api/login", ours, f'{{"token": "{page.token}"}}')
        assert (status, "Secure" in cookie) == (200, True)
        assert sent("GET", "/", f"evil.example:{port}")[0] == 421
        assert sent("POST", "/api/login", f"evil.example:{port}", "{}")[0] == 421
        with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as plain:
            plain.request("GET", "/")
            with pytest.raises((HTTPException, OSError)):
                plain.getresponse()


@needs_openssl
def test_a_certificate_and_the_key_of_another_one_are_refused(certificate: tuple[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(other)], check=True, capture_output=True)
    with (
        pytest.raises(AotError, match="certificate or its key"),
        serving(ServerOptions(host="0.0.0.0", tls_cert=certificate[0], tls_key=str(other))),
    ):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other ways")
def test_other_processes_of_the_same_user_cannot_read_the_memory_of_the_server() -> None:
    with a_server() as client:
        assert client.token
        assert ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0) == 0
