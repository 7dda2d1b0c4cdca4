"""HTTP/1.1 as far as clients of a model need it: requests with a body, answers whole or in chunks, kept connections."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    at: float
    """On the monotonic clock."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """Raises ValueError where it is none."""
        value = json.loads(self.body)
        if not isinstance(value, dict):
            raise ValueError("not an object")  # noqa: TRY004
        return value


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """None: the client is done."""
    try:
        line = await reader.readuntil(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ", 2)
        headers = {}
        while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = await _read_body(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return None
    at = asyncio.get_running_loop().time()
    return Request(at=at, method=method, path=target.partition("?")[0], headers=headers, body=body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readuntil(b"\r\n")
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


class Response:
    """Written piece by piece; whoever writes it decides whether it ever ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})})
        self._writer.write(body)
        await self._writer.drain()

    async def half(self, body: bytes) -> None:
        """Announces all of it and sends half."""
        self._head(200, {"content-type": "application/json", "content-length": str(len(body))})
        self._writer.write(body[: len(body) // 2])
        await self._writer.drain()

    async def begin(self, content_type: str) -> None:
        self._head(200, {"content-type": content_type, "transfer-encoding": "chunked", "cache-control": "no-cache"})
        await self._writer.drain()

    async def chunk(self, data: bytes) -> None:
        self._writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def until_left(self) -> None:
        """Until nobody is there to read any more; what is sent before is lost, and so is the connection."""
        await self._reader.read()

    def reset(self) -> None:
        self._writer.transport.abort()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        known = {one.value for one in HTTPStatus}
        phrase = HTTPStatus(status).phrase if status in known else "Overloaded"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
