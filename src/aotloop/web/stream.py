"""Server-sent events: what is new in a file reaches every page that looks at it; a page that comes back misses nothing.

Events carry their mark as id. A browser that reconnects sends the last id, and gets what came after it. The state of a
loop is sent whole at the beginning, later only what differs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from aotloop.app.overview.event_feed import read_events
from aotloop.app.overview.loop_facts import LoopFacts, difference, facts_of
from aotloop.errors import AotError, refusal
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust.folder import sign_of_decisions
from aotloop.web.endpoint import json_of
from aotloop.web.guard import headers_of, session_in

POLL_SECONDS = 0.05
HEARTBEAT_SECONDS = 10.0
REST = 1.0
"""Between two looks at a large state, so many times as long as the look took: a page never keeps a core busy."""

Poll = Callable[[], list[bytes]]
"""Looks at files, and returns messages. Of several, what the first one finds does not wait for the others."""


def message(kind: str, value: Any, mark: str | None = None) -> bytes:
    """JSON has no line breaks of its own, so one `data` line holds it."""
    head = f"id: {mark}\n" if mark else ""
    return f"{head}event: {kind}\ndata: ".encode() + json_of(value) + b"\n\n"


def streamed(request: Request, *polls: Poll, seconds: float = POLL_SECONDS) -> StreamingResponse:
    return StreamingResponse(_messages(request, polls, seconds), media_type="text/event-stream")


async def _messages(request: Request, polls: Sequence[Poll], seconds: float) -> AsyncIterator[bytes]:
    yield b"retry: 500\n\n"
    last = time.monotonic()
    closing, access = request.app.state.closing, request.app.state.access
    cookie = session_in(headers_of(request.scope), access, request.app.state.address)
    while access.may_look(cookie) and not (closing.is_set() or await request.is_disconnected()):
        is_news = False
        for poll in polls:
            for message in await run_in_threadpool(poll):
                is_news = True
                yield message
        now = time.monotonic()
        if is_news:
            last = now
        elif now - last > HEARTBEAT_SECONDS:
            last = now
            yield b": still here\n\n"
        await asyncio.sleep(seconds)


def mark_of(request: Request) -> str | None:
    """A browser sends the header when it reconnects by itself; a page that does it sends the parameter."""
    return request.headers.get("last-event-id") or request.query_params.get("after") or None


class EventsSource:
    def __init__(self, state_file: str, mark: str | None) -> None:
        self._state_file = state_file
        self._mark = mark
        self._is_first = True

    def messages(self) -> list[bytes]:
        found = []
        while True:
            batch = read_events(self._state_file, self._mark)
            is_news = batch.events or (batch.is_new_start and (self._mark or self._is_first))
            self._mark, self._is_first = batch.mark, False
            if is_news:
                told = {"events": batch.events, "reset": batch.is_new_start, "cut": batch.is_cut}
                found.append(message("events", told, batch.mark))
            if not batch.is_more:
                return found


class LoopStates:
    """The state of each loop, computed once for all pages that look at it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, LoopFacts]] = {}
        self._not_before: dict[str, float] = {}

    def facts(self, path: str) -> LoopFacts:
        """Raises AotError or OSError: the file cannot be read now; a person may be editing it."""
        known, store = self._known.get(path), Store(path)
        sign = (store.signature_now(), holder_of(path), sign_of_decisions())
        if known is not None and (known[0] == sign or time.monotonic() < self._not_before.get(path, 0.0)):
            return known[1]
        began = time.monotonic()
        facts = facts_of(store)
        self._known[path] = (sign, facts)
        self._not_before[path] = time.monotonic() + REST * (time.monotonic() - began)
        return facts


class LoopSource:
    def __init__(self, states: LoopStates, path: str) -> None:
        self._states = states
        self._path = path
        self._before: LoopFacts | None = None
        self._problem = ""
        """Why the file cannot be read, as the page was told."""

    def messages(self) -> list[bytes]:
        told, self._problem = self._problem, ""
        try:
            facts = self._states.facts(self._path)
        except (AotError, OSError, ValueError) as error:
            self._problem = str(refusal(error)) if isinstance(error, AotError | OSError) else str(error)
            return [] if told == self._problem else [message("unreadable", {"error": self._problem})]
        was_lost, before, self._before = bool(told), self._before, facts
        changed = difference(before, facts)
        if changed is None and not was_lost:
            return []
        news = changed if changed is not None else difference(None, facts)
        return [message("facts", {"whole": before is None, "difference": news})]


class ValueSource:
    """A small value: sent at the beginning, and again whenever it differs. A page is told why there is none."""

    def __init__(self, kind: str, value: Callable[[], Any]) -> None:
        self._kind = kind
        self._value = value
        self._before = b""

    def messages(self) -> list[bytes]:
        try:
            told = message(self._kind, self._value())
        except (AotError, OSError) as error:
            told = message("problem", {"error": str(refusal(error))})
        if told == self._before:
            return []
        self._before = told
        return [told]
