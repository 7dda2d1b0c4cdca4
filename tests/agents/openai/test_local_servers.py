"""Servers on this machine are found with their models; whatever else listens there is left alone."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from aotloop.agents.openai import local_servers as module
from aotloop.agents.openai.local_servers import local_servers
from tests.modelserver import ModelServer
from tests.patience import PATIENCE


def test_a_server_is_found_with_its_models() -> None:
    with ModelServer([]) as server:
        port = urlsplit(server.url).port or 0
        (found,) = local_servers({port: "Ollama", 9: "nothing"})
    assert (found.name, found.base_url, found.models) == ("Ollama", f"{server.url}/v1", ("scripted",))


@contextlib.contextmanager
def listening(says: bytes, *, stays: bool = False) -> Iterator[int]:
    """Another program, which says this to each caller."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with contextlib.suppress(OSError):
                caller, _ = listener.accept()
                with caller:
                    caller.recv(1000)
                    caller.sendall(says)
                    if stays:
                        ended.wait(PATIENCE)

        threading.Thread(target=answer, daemon=True).start()
        yield listener.getsockname()[1]
        ended.set()


def test_a_server_that_drips_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST", 0.2)
    monkeypatch.setattr(module, "_MOMENT", PATIENCE)
    with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n[", stays=True) as port:
        assert local_servers({port: "vLLM"}) == []


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<html></h",
        b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"data": 1}',
        b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"data": [{}]}',
    ],
)
def test_whoever_else_listens_there_is_no_model_server(says: bytes) -> None:
    with listening(says) as port:
        assert local_servers({port: "vLLM"}) == []
