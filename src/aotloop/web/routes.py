"""The table of addresses. The guard looks at every request before it comes here."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from threading import Event

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from aotloop.app.overview.loop_list import LoopRows
from aotloop.errors import AotError, StateFileMissing
from aotloop.web import actions, views
from aotloop.web.access import Access, TooManyWrongTokens
from aotloop.web.address import Address
from aotloop.web.endpoint import answer, body_of
from aotloop.web.guard import LOG_IN, LOG_OUT, Guard, cookie_name, headers_of, session_in
from aotloop.web.stream import LoopStates

FILES = Path(__file__).parent / "static"
PAGES = ("/", "/loop/{key}", "/loop/{key}/atom", "/feature/{key}")

_LOOP = "/api/loops/{key}"
_FEATURE = "/api/features/{key}"
VIEWS = {
    "/api/stream": views.list_stream,
    f"{_LOOP}/stream": views.loop_stream,
    f"{_LOOP}/graph": views.graph,
    f"{_LOOP}/base-case": views.base_case,
    f"{_LOOP}/costs": views.costs,
    f"{_LOOP}/commands": views.commands,
    f"{_LOOP}/proposals": views.proposals,
    f"{_LOOP}/atom": views.atom,
    f"{_LOOP}/attempt": views.attempt,
    f"{_LOOP}/transcript": views.transcript_stream,
    _FEATURE: views.feature,
    f"{_FEATURE}/stream": views.feature_stream,
}
ACTIONS = {
    f"{_LOOP}/stop": actions.stop,
    f"{_LOOP}/preview": actions.rehearsal,
    f"{_LOOP}/redirect": actions.redirect,
    f"{_LOOP}/accept": actions.accept,
    f"{_LOOP}/adopt": actions.adopt,
    f"{_LOOP}/dismiss": actions.dismiss,
    f"{_LOOP}/confirm": actions.confirm,
    f"{_FEATURE}/approve": actions.approve,
    f"{_FEATURE}/refuse": actions.refuse,
    f"{_FEATURE}/accept": actions.accept_tests,
    f"{_FEATURE}/stop": actions.stop_shipping,
}


def application(access: Access, address: Address, closing: Event) -> ASGIApp:
    """`closing`: set when the server ends; then streams end, too."""
    app = Starlette(
        routes=[
            *(Route(path, _page, methods=["GET"]) for path in PAGES),
            Mount("/static", StaticFiles(directory=FILES)),
            Route("/api/session", _session, methods=["GET"]),
            Route(LOG_IN, _log_in, methods=["POST"]),
            Route(LOG_OUT, _log_out, methods=["POST"]),
            *(Route(path, use, methods=["GET"]) for path, use in VIEWS.items()),
            *(Route(path, use, methods=["POST"]) for path, use in ACTIONS.items()),
        ],
        exception_handlers={StateFileMissing: _not_found, 404: _not_found, Exception: _defect},
    )
    app.state.access, app.state.address, app.state.closing = access, address, closing
    app.state.home = os.path.expanduser("~")  # noqa: PTH111 - never raises
    app.state.rows, app.state.states = LoopRows(), LoopStates()
    return Guard(app, access, address)


async def _page(_: Request) -> Response:
    return FileResponse(FILES / "index.html")


async def _session(request: Request) -> Response:
    access: Access = request.app.state.access
    told = {"read_only": access.read_only, "version": version("aotloop"), "home": request.app.state.home}
    return answer(told)


class _Token(msgspec.Struct, frozen=True):
    token: str


async def _log_in(request: Request) -> Response:
    access, address = request.app.state.access, request.app.state.address
    try:
        body = await body_of(request, _Token)
        session = access.log_in(body.token.strip())
    except AotError as error:
        return answer({"error": error.message}, 400)
    except TooManyWrongTokens as haste:
        wait = max(round(haste.seconds), 1)
        response = answer({"error": f"too many wrong tokens; wait {wait} s"}, 429)
        response.headers["retry-after"] = str(wait)
        return response
    if session is None:
        return answer({"error": "this is not the token that `aot serve` printed"}, 401)
    response = answer({"secret": session.secret})
    response.set_cookie(
        cookie_name(address), session.cookie, httponly=True, samesite="strict", secure=address.is_tls, path="/"
    )
    return response


async def _log_out(request: Request) -> Response:
    access: Access = request.app.state.access
    access.log_out(session_in(headers_of(request.scope), access, request.app.state.address))
    response = answer({})
    response.delete_cookie(cookie_name(request.app.state.address), path="/")
    return response


async def _not_found(request: Request, error: Exception) -> Response:
    """The page says it to a person; the answer says it to a page."""
    if not request.url.path.startswith(("/api/", "/static/")):
        return FileResponse(FILES / "index.html", status_code=404)
    message = error.message if isinstance(error, AotError) else "there is no such page"
    return JSONResponse({"error": message}, status_code=404)


async def _defect(_: Request, error: Exception) -> Response:
    """The page shows it. The terminal may belong to a run at this time."""
    return JSONResponse({"error": f"this is a defect of aotloop: {type(error).__name__}: {error}"}, status_code=500)
