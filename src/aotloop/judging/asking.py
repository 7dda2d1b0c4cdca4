"""An agent is asked, as often as there are votes and all at the same time; garbage is asked about once more.

One that cannot be used now, or will not do it, is replaced by the next; nobody is waited for. It happens in the thread
that calls, in an event loop of its own. Once cancelled, everything that was started is dead within a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from aotloop.agents.contract import Assignment, Backend, Cause, Crashed, Garbage, Limits, MustWait, Outcome
from aotloop.errors import AotError, refusal
from aotloop.verify.cancellation import Cancellation

_UNABLE: frozenset[Cause | None] = frozenset({"rate_limit", "overload", "quota", "auth", "refusal", "outage"})

GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL: whoever judges has nothing to save."""


class Cancelled(Exception):  # noqa: N818 - it is no error, and is caught where it is known
    """Nobody wants to know any more."""


class Juror(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    """By its name in the configuration."""
    backend: Backend
    limits: Limits


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and whom: the first of the jurors, the others only in its place."""

    jurors: Sequence[Juror]
    assignment: Callable[[Juror, int], Assignment]
    """Makes a fresh one each time, by the number of the vote."""
    votes: int
    on_spent: Callable[[Juror, Outcome], None]
    known: Mapping[int, Outcome] = {}
    """Votes that were given before, by their numbers."""
    on_vote: Callable[[int, Outcome], None] = lambda _, __: None
    """Told of each as soon as it is given."""


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
    if (known := asked.known.get(number)) is not None:
        return known
    first: Outcome | None = None
    for juror in asked.jurors:
        outcome = await _once(asked, juror, number)
        if isinstance(outcome, Garbage):
            outcome = await _once(asked, juror, number)
        if not _is_unable(outcome):
            asked.on_vote(number, outcome)
            return outcome
        first = first or outcome  # why it was not the one who should have been asked
    return first or Crashed(reason="nobody is there to be asked")


async def _once(asked: Asked, juror: Juror, number: int) -> Outcome:
    try:
        outcome = await juror.backend.run(asked.assignment(juror, number), _unheard)
    except (AotError, OSError) as error:
        return Crashed(reason=refusal(error).message, cause="outage")
    asked.on_spent(juror, outcome)
    return outcome


def _is_unable(outcome: Outcome) -> bool:
    """It says something about the agent, and nothing about the question."""
    return isinstance(outcome, MustWait) or outcome.cause in _UNABLE


def _unheard(line: str) -> None:
    """What a judge says on the way is in its transcript."""
