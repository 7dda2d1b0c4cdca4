"""Polling: what a client only writes down is looked at now and then while it works, and once more when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def polled(look: Callable[[], None], every: float) -> AsyncIterator[None]:
    """`look` is called at once, every so many seconds, and at the end, however that comes."""

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
