"""A model that says what its scripts say, over HTTP on loopback, in a thread of this process.

with ModelServer([Script("hello", [Say("hi")])]) as server:
    …  # a client with server.url as its base URL
    assert server.requests
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.modelserver import chat, messages, responses
from tests.modelserver.casting import Casting, aside, is_side_task
from tests.modelserver.connection import Request, Response, read_request
from tests.modelserver.delivering import deliver, reject
from tests.modelserver.exchange import Exchange
from tests.modelserver.script import NOTHING, Fail, Script, Turn, Usage
from tests.modelserver.wire import Dialect, encoded
from tests.patience import PATIENCE

_DIALECTS: dict[str, Dialect] = {
    "/v1/messages": messages,
    "/v1/responses": responses,
    "/v1/chat/completions": chat,
}
_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Record:
    """A request to a model, and what it got."""

    request: Request
    exchange: Exchange
    turn: Turn
    is_aside: bool
    """A side task of the client, not the work."""


class ModelServer:
    def __init__(self, scripts: Sequence[Script]) -> None:
        self.url = ""
        self.requests: list[Request] = []
        """All of them, to whatever path."""
        self.records: list[Record] = []
        """Those to a model."""
        self.lost: list[str] = []
        """What no script had a turn for; 403 was the answer, on which clients soon give up."""
        self.usage: dict[str, Usage] = {}
        """By model; counted when a reply has been sent to its end."""
        self._faults: list[BaseException] = []
        self._casting = Casting(scripts)
        self._news = threading.Condition()
        self._is_up = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="model server", daemon=True)

    # --- for the test ----------------------------------------------------------------------------------------------

    @property
    def played(self) -> list[Record]:
        """Those that took a turn of a script."""
        return [record for record in self.records if not record.is_aside]

    @property
    def elsewhere(self) -> list[str]:
        """What a client wanted of anybody else: it shows if the server is its proxy, too (HTTPS_PROXY, NO_PROXY)."""
        return [request.path for request in self.requests if not request.path.startswith("/")]

    def wait_for(self, count: int, timeout: float = PATIENCE) -> bool:
        """Until so many requests have taken a turn."""
        with self._news:
            return self._news.wait_for(lambda: len(self.played) >= count, timeout)

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_up.wait()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Raises what went wrong in here, a script's function included."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._faults:
            raise self._faults[0]

    # --- in the thread ---------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(lambda _, context: self._faults.append(context["exception"]))
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=_LONGEST_LINE)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._is_up.set()
        await self._stop.wait()
        server.close()  # what still waits for something is cancelled at the end of the loop

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        response = Response(reader, writer)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):  # cancelled: the server stops
            while not writer.is_closing() and (request := await read_request(reader)) is not None:
                await self._answer(request, response)
        writer.close()

    async def _answer(self, request: Request, response: Response) -> None:
        self.requests.append(request)
        dialect = _DIALECTS.get(request.path)
        if request.method == "POST" and dialect is not None:
            await self._play(dialect, request, response)
            return
        status, body = _besides(request)
        await response.whole(status, b"" if request.method == "HEAD" else encoded(body))

    async def _play(self, dialect: Dialect, request: Request, response: Response) -> None:
        try:
            exchange = dialect.read(request)
        except ValueError as error:
            await response.whole(400, dialect.error(Fail(400, "invalid_request_error", str(error))))
            return
        is_aside = is_side_task(exchange)
        turn, lost = (aside(exchange), "") if is_aside else self._casting.turn_for(exchange)
        with self._news:
            self.records.append(Record(request=request, exchange=exchange, turn=turn, is_aside=is_aside))
            self.lost += [lost] if lost else []
            self._news.notify_all()
        if isinstance(turn, Fail) and not (turn.in_stream and exchange.is_streamed):
            await reject(response, turn, dialect.error(turn))
            return
        reply = dialect.reply(exchange, turn, len(self.records))
        is_sent = await deliver(response, reply, turn.delivery, streamed=exchange.is_streamed)
        if is_sent and not isinstance(turn, Fail):
            self.usage[exchange.model] = self.usage.get(exchange.model, NOTHING) + turn.usage


def _besides(request: Request) -> tuple[int, dict[str, Any]]:
    """What clients ask for besides a model's words."""
    match request.method, request.path:
        case "POST", "/v1/messages/count_tokens":
            return 200, {"input_tokens": len(request.body) // 4}
        case "GET", "/v1/models":
            model = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted"}
            return 200, {"object": "list", "data": [model], "has_more": False}
        case "HEAD" | "OPTIONS", _:
            return 200, {}
        case _:
            return 404, {"error": {"type": "not_found_error", "message": f"no {request.path} here"}}
