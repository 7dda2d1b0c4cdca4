"""How a reply goes over the wire: as it should, slowly, in part, broken, or never to its end."""

from __future__ import annotations

import asyncio
import math

from tests.modelserver.connection import Response
from tests.modelserver.script import Delivery, Fail
from tests.modelserver.wire import Reply, broken
from tests.patience import reached

_PING_SECONDS = 0.5


async def deliver(response: Response, reply: Reply, delivery: Delivery, *, streamed: bool) -> bool:
    """Whether all of it was sent."""
    await _waited(response, delivery.wait)
    if delivery.once is not None:
        await reached(delivery.once)
    if not streamed:
        return await _whole(response, reply, delivery)
    await response.begin("text/event-stream")
    for number, event in enumerate(reply.events):
        await _waited(response, delivery.pause)
        if number != delivery.events:
            await response.chunk(event)
        elif delivery.then == "garble":
            await response.chunk(broken(event))
        else:
            return await _broken_off(response, reply, delivery)
    await response.end()
    return True


async def _whole(response: Response, reply: Reply, delivery: Delivery) -> bool:
    await _waited(response, delivery.pause)
    if delivery.events is None:
        await response.whole(200, reply.body)
        return True
    if delivery.then in {"garble", "end"}:
        await response.whole(200, broken(reply.body))
        return True
    await response.half(reply.body)
    if delivery.then != "cut":
        await _waited(response, math.inf)
    response.reset()
    return False


async def _broken_off(response: Response, reply: Reply, delivery: Delivery) -> bool:
    match delivery.then:
        case "cut":
            response.reset()
        case "end":
            await response.end()
        case "ping":
            while True:
                await response.chunk(reply.ping)
                await asyncio.sleep(_PING_SECONDS)
        case _:
            await _waited(response, math.inf)
    return False


async def reject(response: Response, fail: Fail, body: bytes) -> None:
    await _waited(response, fail.delivery.wait)
    await response.whole(fail.status, body, fail.headers)


async def _waited(response: Response, seconds: float) -> None:
    if seconds == math.inf:
        await response.until_left()
        raise ConnectionAbortedError
    if seconds:
        await asyncio.sleep(seconds)
