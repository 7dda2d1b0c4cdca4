"""Connections that ask nothing: they end, and keep no person from the page."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing

import pytest

from aotloop.web import connections
from tests.patience import PATIENCE
from tests.web.requests import Client, a_server


def connected(client: Client, sent: bytes) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", client.port), timeout=PATIENCE)
    found.sendall(sent)
    return found


def is_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_of_too_many_connections_the_one_that_waits_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST", 5)
    with a_server() as client, ExitStack() as stack:
        client.log_in()
        stream = stack.enter_context(client.listening("/api/stream"))
        assert stream.readline()
        silent = [stack.enter_context(closing(connected(client, b"GET / HTTP/1.1\r\n"))) for _ in range(5)]
        assert is_ended(silent[0])
        assert client.get("/api/session").status == 200
        assert is_ended(silent[1])
        silent[-1].sendall(f"Host: 127.0.0.1:{client.port}\r\n\r\n".encode())
        assert silent[-1].recv(12) == b"HTTP/1.1 200"
        assert stream.readline(), "what is followed goes on"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /",
        b"POST /api/login HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_arrive_ends_its_connection(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(connections, "SECONDS", 0.1)
    with a_server() as client:
        host = f"127.0.0.1:{client.port}"
        more = f"Origin: http://{host}\r\nContent-Type: application/json\r\nContent-Length: 99"
        filled = sent.replace(b"{}", host.encode(), 1).replace(b"{}", more.encode(), 1)
        with closing(connected(client, filled)) as connection:
            while not is_ended(connection):
                """What was answered before."""
