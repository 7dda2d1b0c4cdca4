"""A ballot asks an agent for each vote, all at the same time; after a garbage answer it asks once more.

An agent that is not available, or refuses, is replaced by the next; the ballot never waits for an agent to return. It
runs in the calling thread, in its own event loop. After a cancellation, all its processes are dead within a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from aotloop.agents.contract import Assignment, Backend, Cause, Crashed, Garbage, MustWait, Outcome, TimedOut
from aotloop.errors import AotError, refusal
from aotloop.process.cancellation import Cancellation
from aotloop.process.spec import Limits

_UNABLE: frozenset[Cause | None] = frozenset({"rate_limit", "overload", "quota", "auth", "refusal", "outage"})

GRACE = 0.3
"""Seconds between SIGTERM and SIGKILL: a judge has nothing to save."""


class Cancelled(Exception):  # noqa: N818 - it is no error, and its caller catches it
    """The caller does not need the answer any more."""


class Juror(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    """The agent's name in the configuration."""
    backend: Backend
    limits: Limits


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The question and the jurors: the first one answers, the others only replace it."""

    jurors: Sequence[Juror]
    assignment: Callable[[Juror, int], Assignment]
    """Makes a new assignment for each call, by the number of the vote."""
    votes: int
    on_spent: Callable[[Juror, Outcome], None]
    known: Mapping[int, Outcome] = {}
    """Votes that were given before, by their numbers."""
    on_vote: Callable[[int, Outcome], None] = lambda _, __: None
    """Called with each vote at once."""


def ask(asked: Asked, cancellation: Cancellation) -> list[Outcome]:
    """One answer for each vote. Raises Cancelled."""
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
        first = first or outcome  # why the first juror was not asked
    return first or Crashed(reason="no agent is there to be asked")


async def _once(asked: Asked, juror: Juror, number: int) -> Outcome:
    try:
        outcome = await juror.backend.run(asked.assignment(juror, number), _unheard)
    except (AotError, OSError) as error:
        return Crashed(reason=refusal(error).message, cause="outage")
    asked.on_spent(juror, outcome)
    return outcome


def _is_unable(outcome: Outcome) -> bool:
    """It says something about the agent, and nothing about the question."""
    is_silent = isinstance(outcome, TimedOut) and not outcome.taught
    return is_silent or isinstance(outcome, MustWait) or outcome.cause in _UNABLE


def _unheard(line: str) -> None:
    """The transcript keeps what a judge says on the way."""
