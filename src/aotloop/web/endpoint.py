"""Requests and answers as values: JSON in, a checked value out; an expected error becomes an answer for the person."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from aotloop.app.overview.loop_registry import Kind, KnownLoop, known_loop
from aotloop.errors import AotError, IllegalEvent, NotTrusted, StateFileBusy, StateFileMissing, refusal

T = TypeVar("T")


def json_of(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON cannot hold
        return json.dumps(msgspec.to_builtins(value)).encode()


def answer(value: Any, status: int = 200) -> Response:
    return Response(json_of(value), status_code=status, media_type="application/json")


async def body_of(request: Request, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ClientDisconnect) as error:
        raise AotError(f"the request cannot be understood: {error}") from None


def loop_in(request: Request, kind: Kind = "loop") -> KnownLoop:
    """Only what is registered can be asked for: an address names no file."""
    known = known_loop(request.path_params["key"])
    if known is None or known.kind != kind:
        raise StateFileMissing(
            f"there is no such {kind} on this machine any more", hint="The list shows those that are there."
        )
    return known


def view(use: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """A page's question. `use` runs in a thread, because it reads files."""

    @wraps(use)
    async def endpoint(request: Request) -> Response:
        return await _answered(use, request)

    return endpoint


def action(kind: type[T]) -> Callable[[Callable[[Request, T], Any]], Callable[[Request], Any]]:
    """A person's decision, with a body of this type."""

    def made(use: Callable[[Request, T], Any]) -> Callable[[Request], Any]:
        @wraps(use)
        async def endpoint(request: Request) -> Response:
            try:
                body = await body_of(request, kind)
            except AotError as error:
                return answer(_told(error), 400)
            return await _answered(lambda asked: use(asked, body), request)

        return endpoint

    return made


async def _answered(use: Callable[[Request], Any], request: Request) -> Response:
    try:
        return answer(await run_in_threadpool(use, request))
    except (AotError, OSError) as error:
        expected = refusal(error)
        return answer(_told(expected), _status(expected))


def _status(error: AotError) -> int:
    if isinstance(error, StateFileMissing):
        return 404
    return 409 if isinstance(error, StateFileBusy | NotTrusted) else 422


def _told(error: AotError) -> dict[str, Any]:
    message = error.why if isinstance(error, IllegalEvent) else error.message
    commands = list(error.commands) if isinstance(error, NotTrusted) else []
    return {"error": message, "hint": error.hint, "commands": commands}
