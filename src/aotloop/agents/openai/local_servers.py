"""Model servers on this machine: the usual ports of loopback are asked for their models, each for a moment."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import msgspec

from aotloop.text.shorten import one_line

USUAL_PORTS: Mapping[int, str] = MappingProxyType({11434: "Ollama", 8000: "vLLM", 1234: "LM Studio", 8080: "llama.cpp"})
HOST = "127.0.0.1"
_MOMENT = 0.5
"""Seconds without a byte."""
_LONGEST = 2.0
"""Seconds in all."""
_MOST_BYTES = 1_000_000
_MOST_MODELS = 50
_LONGEST_NAME = 80


class ModelsServer(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """Of the program that usually listens there."""
    base_url: str
    models: tuple[str, ...]


def local_servers(ports: Mapping[int, str] = USUAL_PORTS) -> list[ModelsServer]:
    """Those that answer as an OpenAI-compatible server does. Anything else may listen there; it is left alone."""
    with ThreadPoolExecutor(max(1, len(ports))) as pool:
        found = pool.map(lambda port: _models(port), ports)  # noqa: PLW0108 - the name of what it does
        return [
            ModelsServer(name=ports[port], base_url=f"http://{HOST}:{port}/v1", models=models)
            for port, models in zip(ports, found, strict=True)
            if models is not None
        ]


def _models(port: int) -> tuple[str, ...] | None:
    """Without a proxy, and without following it elsewhere."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_MOMENT)
    end = threading.Timer(_LONGEST, lambda: _hang_up(connection))
    end.start()
    try:
        connection.request("GET", "/v1/models")
        answer = connection.getresponse()
        body = answer.read(_MOST_BYTES)
        return names_in(json.loads(body)) if answer.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    finally:
        end.cancel()
        connection.close()


def _hang_up(connection: http.client.HTTPConnection) -> None:
    """A server that says a little now and then would be heard for ever."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def names_in(listed: Any) -> tuple[str, ...] | None:
    """Names in a list of models, as servers write it; None: this is no such list."""
    data = listed.get("data", listed.get("models")) if isinstance(listed, dict) else listed
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        return None
    names = [entry.get("id") or entry.get("name") for entry in data[:_MOST_MODELS]]
    return tuple(one_line(str(name), _LONGEST_NAME) for name in names) if all(names) else None
