"""An agent is asked, as often as there are votes and all at the same time; garbage is asked about once more.

It happens in the thread that calls, in an event loop of its own. Once cancelled, everything that was started is dead
within a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from aotloop.agents.contract import Assignment, Backend, Crashed, Garbage, Outcome
from aotloop.errors import AotError, refusal
from aotloop.verify.cancellation import Cancellation

GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL: whoever judges has nothing to save."""


class Cancelled(Exception):  # noqa: N818 - it is no error, and is caught where it is known
    """Nobody wants to know any more."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and whom. `assignment` makes a fresh one each time, by the number of the vote."""

    backend: Backend
    assignment: Callable[[int], Assignment]
    votes: int
    on_spent: Callable[[Outcome], None]


def ask(asked: Asked, cancellation: Cancellation) -> list[Outcome]:
    """One for each vote. Raises Cancelled."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(_all(asked))

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with cancellation.calling(cancel):
            try:
                return loop.run_until_complete(task)
            except asyncio.CancelledError:
                raise Cancelled from None


async def _all(asked: Asked) -> list[Outcome]:
    async with asyncio.TaskGroup() as group:
        votes = [group.create_task(_vote(asked, number)) for number in range(1, asked.votes + 1)]
    return [vote.result() for vote in votes]


async def _vote(asked: Asked, number: int) -> Outcome:
    outcome = await _once(asked, number)
    return await _once(asked, number) if isinstance(outcome, Garbage) else outcome


async def _once(asked: Asked, number: int) -> Outcome:
    try:
        outcome = await asked.backend.run(asked.assignment(number), _unheard)
    except (AotError, OSError) as error:  # the others may be luckier
        return Crashed(reason=refusal(error).message)
    asked.on_spent(outcome)
    return outcome


def _unheard(line: str) -> None:
    """What a judge says on the way is in its transcript."""
