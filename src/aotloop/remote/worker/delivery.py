"""Delivery of results: on disk first, then sent until the server has it, or does not want it any more.

The library gives up after some seconds, and what was paid for would be lost. A worker that was restarted delivers what
the one before it had left on disk.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import msgspec
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from aotloop.foreign_files import read_foreign, write_new

_UNWANTED = (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.FAILED_PRECONDITION)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
_LARGEST = 8 << 20


class Parcel(msgspec.Struct, frozen=True, kw_only=True):
    token: bytes
    """The server's name for the task."""
    content: bytes


class Delivery:
    def __init__(self, client: Client, folder: Path, say: Callable[[str], None]) -> None:
        self._client = client
        self._folder = folder
        self._say = say
        self._is_leaving = asyncio.Event()

    def leave(self) -> None:
        """What the server does not take now stays on disk."""
        self._is_leaving.set()

    async def deliver(self, parcel: Parcel) -> None:
        file = self._folder / f"{sha256(parcel.token).hexdigest()[:32]}.parcel"
        with suppress(OSError):  # a full disk: then it is not safe from a crash, and is sent nevertheless
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft = file.with_suffix(".draft")
            write_new(draft, msgspec.msgpack.encode(parcel))
            os.replace(draft, file)  # noqa: PTH105 - whole, or not at all
        if await self._is_sent(parcel):
            with suppress(OSError):
                file.unlink()

    async def deliver_left(self) -> int:
        """What an earlier worker in the same home had not delivered. Returns how many."""
        count = 0
        for file in sorted(self._folder.glob("*.parcel")):
            with suppress(OSError, msgspec.MsgspecError):
                parcel = msgspec.msgpack.decode(read_foreign(file, _LARGEST), type=Parcel)
                await self._is_sent(parcel)
                count += 1
            with suppress(OSError):
                file.unlink()
        return count

    async def _is_sent(self, parcel: Parcel) -> bool:
        """Or not wanted."""
        handle = self._client.get_async_activity_handle(task_token=parcel.token)
        pause = _FIRST_PAUSE
        while True:
            try:
                await handle.complete(parcel.content, rpc_timeout=timedelta(seconds=10))
            except RPCError as error:
                if error.status in _UNWANTED:
                    self._say(f"a result is not wanted any more: {error.message}")
                    return True
            else:
                return True
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._is_leaving.wait()
                    return False
            pause = min(pause * 1.5, _LONGEST_PAUSE)
