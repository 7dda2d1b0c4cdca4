"""What a client writes down is looked at while it works, and once more when it ends."""

from __future__ import annotations

import asyncio

import pytest

from aotloop.agents.attempt.poll import polled
from tests.patience import reached


def test_it_is_looked_at_now_and_then_and_once_more_however_it_ends() -> None:
    looks: list[int] = []

    async def ended() -> None:
        async with polled(lambda: looks.append(1), 0.001):
            await reached(lambda: len(looks) > 3)
            looks.clear()
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(ended())
    assert looks == [1]
