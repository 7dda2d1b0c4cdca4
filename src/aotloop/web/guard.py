"""Every request passes here first: host, origin, session, second secret, size. Nothing else decides.

| request          | needs                                                                     |
| ---------------- | ------------------------------------------------------------------------- |
| page, its files  | a host of ours                                                            |
| GET  /api/…      | and a session                                                             |
| POST /api/login  | and an origin of ours, and the token                                      |
| POST /api/…      | and an origin of ours, a session and its second secret; not read-only     |
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aotloop.web.access import Access
from aotloop.web.address import Address

LARGEST_BODY = 256 << 10
SECRET_HEADER = "x-aot-secret"  # noqa: S105 - the name of a header
LOG_IN, LOG_OUT = "/api/login", "/api/logout"

POLICY = "; ".join(  # noqa: FLY002 - one rule a line
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)

Refusal = tuple[int, str]


class Guard:
    def __init__(self, app: ASGIApp, access: Access, address: Address) -> None:
        self._app = app
        self._access = access
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            status, message = refusal
            answer = JSONResponse({"error": message}, status_code=status)
            await answer(scope, receive, _with_headers(send))
            return
        await self._app(scope, _bounded(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> Refusal | None:
        """The first objection to this request; None: it may pass."""
        headers, path = headers_of(scope), scope["path"]
        if not self._address.knows(headers.get("host")):
            return 421, "this is not a name of this server"
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "this method is not used here"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and path.startswith("/api/"):
            return 403, "the request comes from another page"
        if scope["method"] == "POST":
            return self._refusal_of_post(headers, path)
        if path.startswith("/api/") and not session_in(headers, self._access, self._address):
            return 401, "log in with the token that `aot serve` printed"
        return None

    def _refusal_of_post(self, headers: dict[str, str], path: str) -> Refusal | None:
        if not self._address.is_origin(headers.get("origin"), headers.get("host")):
            return 403, "the request comes from another page"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "the request has to be JSON"
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return 413, "the request is too large"
        return self._refusal_of_action(headers, path) if path != LOG_IN else None

    def _refusal_of_action(self, headers: dict[str, str], path: str) -> Refusal | None:
        cookie = session_in(headers, self._access, self._address)
        if not cookie:
            return 401, "log in with the token that `aot serve` printed"
        if not self._access.may_act(cookie, headers.get(SECRET_HEADER, "")):
            return 403, "this page may only look; log in again to steer"
        if self._access.read_only and path != LOG_OUT:
            return 403, "the page is read-only (--read-only)"
        return None


def cookie_name(address: Address) -> str:
    """Browsers send cookies to every port of a host, so each server has a name of its own."""
    return f"aot_{address.port}"


def cookies_in(headers: dict[str, str], address: Address) -> list[str]:
    """All of our name: a page on another port can add some. The others may have any form, and hide none of ours."""
    parts = [part.strip().partition("=") for part in headers.get("cookie", "").split(";")]
    return [value for name, _, value in parts if name == cookie_name(address)]


def session_in(headers: dict[str, str], access: Access, address: Address) -> str:
    """The cookie of a session; empty: there is none."""
    return next(filter(access.may_look, cookies_in(headers, address)), "")


def headers_of(scope: Scope) -> dict[str, str]:
    """Two headers of one name are joined, so a second `Host` makes the first one unknown."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        text = value.decode("latin-1")
        joint = "; " if name == "cookie" else ", "
        found[name] = f"{found[name]}{joint}{text}" if name in found else text
    return found


def _bounded(receive: Receive) -> Receive:
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= LARGEST_BODY else {"type": "http.disconnect"}

    return bounded


def _with_headers(send: Send) -> Callable[[Any], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = {name for name, _ in HEADERS}
            others = [(name, value) for name, value in message.get("headers", []) if name.lower() not in ours]
            message = {**message, "headers": [*others, *HEADERS]}
        await send(message)

    return sending
