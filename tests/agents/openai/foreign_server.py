"""A server that answers in bytes, as servers of others do: each reply is written out, with all that is wrong in it."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tests.patience import PATIENCE

_MOST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Pieces = Sequence[bytes]
"""Each is sent by itself. After the last one the connection is closed."""
Reply = bytes | Pieces | Callable[[Asked], "bytes | Pieces"]


@dataclass
class ForeignServer:
    """Each request gets the next reply; the last one is for all that follow."""

    replies: Sequence[Reply]
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def wait_until_closed(self) -> bytes:
        """For a reply that never comes."""
        self._closing.wait(PATIENCE)
        return b""

    @property
    def url(self) -> str:
        scheme = "https" if self.tls is not None else "http"
        return f"{scheme}://127.0.0.1:{self._socket.getsockname()[1]}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            try:
                with self._secured(connection) as secured:
                    self._serve(secured)
            except OSError:  # the client has left, or trusts nothing
                continue

    def _secured(self, connection: socket.socket) -> socket.socket:
        return self.tls.wrap_socket(connection, server_side=True) if self.tls is not None else connection

    def _serve(self, connection: socket.socket) -> None:
        asked = _read(connection)
        if asked is None:
            return
        reply = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(asked)
        said = reply(asked) if callable(reply) else reply
        for piece in [said] if isinstance(said, bytes) else said:
            connection.sendall(piece)


def _read(connection: socket.socket) -> Asked | None:
    read = b""
    while b"\r\n\r\n" not in read:
        more = connection.recv(_MOST)
        if not more:
            return None
        read += more
    head, _, body = read.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(_MOST)
    method, path, _ = first.split(" ")
    return Asked(method=method, path=path, headers=headers, body=json.loads(body or b"{}"))


# --- replies -------------------------------------------------------------------------------------------------------


def http(status: int, body: bytes | str | Mapping[str, Any] | list[Any], *headers: str, version: str = "1.1") -> bytes:
    content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind = "text/html" if isinstance(body, str) else "application/json"
    usual = (f"Content-Type: {kind}", f"Content-Length: {len(content)}", "Connection: close")
    named = {line.partition(":")[0].lower() for line in headers}
    lines = [*headers, *(line for line in usual if line.partition(":")[0].lower() not in named)]
    return "\r\n".join([f"HTTP/{version} {status} Status", *lines, "", ""]).encode() + content


def streamed(*events: Mapping[str, Any] | str, end: str = "\n", done: bool = True, head: str = "") -> bytes:
    """The body of a stream. A text is a line as it is."""
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    lines += ["data: [DONE]"] if done else []
    return (head + "".join(f"{line}{end}{end}" for line in lines)).encode()


def stream(*events: Mapping[str, Any] | str, **more: Any) -> bytes:
    """Without a length, as it ends with the connection."""
    return sent(streamed(*events, **more))


def sent(body: bytes, *headers: str, version: str = "1.1") -> bytes:
    lines = ("Content-Type: text/event-stream", "Connection: close", *headers)
    return "\r\n".join([f"HTTP/{version} 200 OK", *lines, "", ""]).encode() + body


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def usage(given: int = 20, made: int = 10, **more: Any) -> dict[str, Any]:
    counts = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [],
        "usage": counts,
    } | more


def says(text: str) -> list[dict[str, Any]]:
    return [delta(role="assistant", content=""), delta(content=text), delta("stop"), usage()]


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}} | more
