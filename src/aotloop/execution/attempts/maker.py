"""The seam between a run and the place where an attempt is made: an order goes out, a result comes back, or is lost.

Everything between taking a place and leaving it is behind this seam: the folder, the agent's process, the commit of
what it left. Agents are chosen, paid, judged and merged on this side. tests/execution/makers.py is the contract in
executable form; every maker passes it.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from aotloop.agents.contract import Meter, MustWait, Outcome
from aotloop.errors import AotError
from aotloop.execution.agent_pool import Seat
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.execution.verification import Found


class Order(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    seat: Seat
    start: Kept | None = None
    """The work of an earlier attempt to go on from; None: the attempt starts clean."""
    base: str | None = None
    """The commit to start at; None: the head of the branch."""
    meter: Meter = msgspec.field(default_factory=Meter)
    """What the attempt has used so far; after a cancellation, what it used in all."""


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt brought back. A claim of success is still a claim, unless `found` says more."""

    outcome: Outcome
    work: Work | Refusal | None = None
    """After a claim, what can be merged; else what was kept as evidence. None: there is nothing."""
    is_untouched: bool = True
    """Of a probe: whether it changed no file."""
    start: Kept | None = None
    """The earlier work that was in its folder; None: the folder was clean."""
    found: Found | None = None
    """What the check found at the commit, if it ran where the attempt was made; None: it has to run here."""


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """There is no result, and the task is not the cause. The run waits for a moment and makes another attempt."""

    ended: MustWait
    """Why, and what it cost."""
    error: AotError | None = None
    """Why its agent cannot be used at all; None: the agent is not the cause, either."""


class Maker(Protocol):
    def make(self, order: Order) -> AbstractAsyncContextManager[Brought | Lost]:
        """Makes the attempt. Its place stays taken until the context ends.

        When this has returned or raised, every process of the attempt is dead. Cancelling it kills them; on the
        runner's machine, what they left is kept as evidence. Cancelling once more ends their grace. Raises AotError if
        there is no place.
        """
