"""Connections that ask nothing hold no room: any process of this machine can open some, also an agent.

With `aot run --serve` the run would share their descriptors. So a request has to arrive in time, and of too many
connections that one goes which has waited longest.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 200
"""Connections at once. A page holds one for each stream, and some more for a moment."""
MOST_AT_ONCE = 64
"""So many are accepted before the others are looked at."""
SECONDS = 10.0
"""A request has to be here whole within this time."""


class Connection(H11Protocol):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._late: asyncio.TimerHandle | None = None
        self.waits_since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()
        if len(self.connections) > MOST:
            waiting = [other for other in self.connections if isinstance(other, Connection) and other.is_waiting]
            min(waiting, key=lambda other: other.waits_since, default=self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._late is None:
            self._expect()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY, h11.ERROR):
            self._expect_no_more()

    @property
    def is_waiting(self) -> bool:
        """For a request. A stream, or an answer that is on its way, is not."""
        return not self.transport.is_closing() and (self._late is not None or self.cycle.response_complete)

    def _expect(self) -> None:
        self.waits_since = self.loop.time()
        self._late = self.loop.call_later(SECONDS, self.transport.abort)

    def _expect_no_more(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
