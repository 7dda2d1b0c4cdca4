"""Polling: reads files that a client writes, at intervals while it works, and once more when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def polled(look: Callable[[], None], every: float) -> AsyncIterator[None]:
    """Calls `look` at once, every so many seconds, and at the end, also after an error."""

    async def again() -> None:
        while True:
            await asyncio.sleep(every)
            look()

    look()
    polling = asyncio.create_task(again())
    try:
        yield
    finally:
        polling.cancel()
        look()
