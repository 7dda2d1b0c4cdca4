"""A client of one's own, as plain as can be: what the tests here ask the server with."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from tests.modelserver import ModelServer
from tests.patience import PATIENCE

PATHS = {"messages": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions"}


@dataclass(frozen=True, kw_only=True)
class Heard:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value

    @property
    def events(self) -> list[dict[str, Any]]:
        return list(_events(self.body))


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    for frame in body.decode().split("\n\n"):
        for line in frame.splitlines():
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line.removeprefix("data: "))


def request(api: str, prompt: str = "hello", *, streamed: bool = False, **more: Any) -> dict[str, Any]:
    key = "input" if api == "responses" else "messages"
    return {"model": "m", "stream": streamed, key: [{"role": "user", "content": prompt}], **more}


def ask(server: ModelServer, api: str, prompt: str = "hello", *, streamed: bool = False, **more: Any) -> Heard:
    return send(server, PATHS[api], request(api, prompt, streamed=streamed, **more))


def send(server: ModelServer, path: str, body: Any, method: str = "POST", session: str = "") -> Heard:
    with begun(server, path, body, method, session) as (_, response):
        return Heard(status=response.status, headers=dict(response.getheaders()), body=response.read())


@contextlib.contextmanager
def begun(
    server: ModelServer, path: str, body: Any, method: str = "POST", session: str = "", patience: float = PATIENCE
) -> Iterator[tuple[HTTPConnection, HTTPResponse]]:
    """An answer whose headers are there, and the connection it comes by."""
    headers = dict.fromkeys(("x-claude-code-session-id", "thread-id", "x-session-affinity"), session)
    with contextlib.closing(HTTPConnection(server.url.removeprefix("http://"), timeout=patience)) as connection:
        data = body if isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, data, headers if session else {})
        with connection.getresponse() as response:
            yield connection, response
