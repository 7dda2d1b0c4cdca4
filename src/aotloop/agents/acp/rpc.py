"""JSON-RPC as the Agent Client Protocol uses it: one message a line, both sides ask and answer.

Messages that make no sense are ignored. Only answers to our own requests are waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec

from aotloop.process.transport import JsonLines, Transport

_NOT_FOUND, _BAD_PARAMETERS = -32601, -32602

Handler = Callable[[dict[str, Any]], None]
Service = Callable[[str, dict[str, Any]], dict[str, Any] | None]


class Refused(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """Why the other side does not get what it asked for."""


class Rpc:
    def __init__(self, serve: Service, on_error: Handler, on_stray: Callable[[str], None]) -> None:
        """`serve` answers requests of the other side (None: no such method). It may raise Refused or OSError."""
        self._serve = serve
        self._on_error = on_error
        self._on_stray = on_stray
        self._lines = JsonLines()
        self._numbers = count(1)
        self._waiting: dict[int, Handler] = {}
        self._transport: Transport | None = None

    @property
    def left_out(self) -> int:
        return self._lines.left_out

    def begin(self, transport: Transport) -> None:
        self._transport = transport

    def call(self, method: str, parameters: dict[str, Any], handler: Handler) -> None:
        number = next(self._numbers)
        self._waiting[number] = handler
        self._send({"id": number, "method": method, "params": parameters})

    def hear(self, chunk: bytes) -> None:
        for message in self._lines.add(chunk):
            if isinstance(message, str):
                self._on_stray(message)
            elif "method" in message:
                self._answer(message)
            else:
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        handler = self._waiting.pop(number, None) if isinstance(number, int) else None
        if handler is None:
            return
        if "error" in message:
            error = message["error"]
            self._on_error(error if isinstance(error, dict) else {"message": str(error)})
        else:
            handler(as_dict(message.get("result")))

    def _answer(self, message: dict[str, Any]) -> None:
        method = str(message["method"])
        try:
            result = self._serve(method, as_dict(message.get("params")))
        except (Refused, OSError) as why:
            answer: dict[str, Any] = {"error": {"code": _BAD_PARAMETERS, "message": str(why)}}
        else:
            unknown = {"error": {"code": _NOT_FOUND, "message": f"there is no {method} here"}}
            answer = {"result": result} if result is not None else unknown
        if "id" in message:
            self._send({"id": message["id"], **answer})

    def _send(self, message: dict[str, Any]) -> None:
        if self._transport is not None:
            self._transport.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")


def as_dict(value: Any) -> dict[str, Any]:
    """An empty dict if the value is not a dict."""
    return value if isinstance(value, dict) else {}
