"""Attempts on this machine: a place of the isolation, the agent in it, and a commit of what it left."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.answers.answer_schema import schema
from aotloop.agents.attempt.scratch import keep_answer
from aotloop.agents.contract import Assignment, Outcome
from aotloop.core.checks.checklist import is_decidable
from aotloop.errors import AotError, refusal
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.maker import Brought, Lost, Order
from aotloop.execution.budget import priced
from aotloop.execution.isolation.place import Isolation, Place, Refusal, start_of
from aotloop.execution.journals.records import Work
from aotloop.execution.task import Task
from aotloop.fence.agent_folder import agent_folder

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, unless a person asks for an immediate end."""
_NO_SPACE = os.strerror(errno.ENOSPC)
"""The cause is the disk, not the attempt."""


class LocalMaker:
    def __init__(
        self,
        *,
        isolation: Isolation,
        records: Callable[[str, int], Path],
        state_file: Path,
        on_output: Callable[[int, str], None],
        conversations: Conversations,
        keeps_evidence: bool = True,
    ) -> None:
        """`records`: our folder for an attempt, by task and number. `keeps_evidence`: of cancelled attempts."""
        self._isolation = isolation
        self._records = records
        self._state_file = state_file
        self._on_output = on_output
        self._conversations = conversations
        self._keeps_evidence = keeps_evidence

    @asynccontextmanager
    async def make(self, order: Order) -> AsyncIterator[Brought | Lost]:
        place = await self._place(order)
        try:
            yield await self._made(place, order)
        finally:
            await self._isolation.leave(place)

    async def _place(self, order: Order) -> Place:
        if order.start is not None:
            return await self._isolation.go_on(order.task.name, order.start, order.base)
        return await self._isolation.take(order.base)

    async def _made(self, place: Place, order: Order) -> Brought | Lost:
        try:
            outcome = await self._outcome(place, order)
            if isinstance(outcome, Lost):
                return outcome
            is_untouched = not isinstance(outcome, contract.Probed) or await self._isolation.is_untouched(place)
            work = await self._work(place, order.task, outcome)
        except asyncio.CancelledError:
            if self._keeps_evidence:
                await self._keep(place, order.task)
            raise
        return Brought(outcome=outcome, work=work, is_untouched=is_untouched, start=place.kept)

    async def _outcome(self, place: Place, order: Order) -> Outcome | Lost:
        on_output = partial(self._on_output, order.task.number)
        try:
            with agent_folder() as scratch:
                assignment = self._assignment(place, order, scratch)
                async with self._isolation.watched(place, assignment) as watch:
                    outcome = await self._conversations.run(order.seat, place, order.task, assignment, on_output)
                keep_answer(assignment)
        except AotError as error:
            return Lost(ended=contract.MustWait(reason=error.message, retry_after=0.0), error=error)
        outcome = priced(watch.judged(outcome), order.seat.price)
        if outcome.cost_usd is None and outcome.tokens is not None:  # it ended before its client could tell
            return replace(outcome, cost_usd=order.meter.cost_usd)
        return outcome

    async def _work(self, place: Place, task: Task, outcome: Outcome) -> Work | Refusal | None:
        """If only the form of an answer is wrong, the check decides about the work."""
        is_formless = isinstance(outcome, contract.Garbage) and task.role == "worker" and is_decidable(task.check)
        if isinstance(outcome, contract.Done) or is_formless:
            try:
                return await self._isolation.finish(place, task)
            except (AotError, OSError) as error:  # it is paid for, so it counts: what it left is the cause
                if _NO_SPACE in str(error):
                    raise
                return Refusal(reason=f"what it left cannot be used: {refusal(error).message}")
        return await self._keep(place, task)

    async def _keep(self, place: Place, task: Task) -> Work | None:
        with suppress(AotError, OSError):  # lost evidence does not fail an attempt
            return await self._isolation.keep(place, task)
        return None

    def _assignment(self, place: Place, order: Order, scratch: Path) -> Assignment:
        task, seat = order.task, order.seat
        is_command = task.command is not None
        start = start_of(place, in_place=self._isolation.branch is None)
        return Assignment(
            role=task.role,
            atom=task.name,
            attempt=task.number,
            run_id=task.run_id,
            epoch=task.epoch,
            cwd=place.cwd,
            state_file=self._state_file,
            scratch=scratch,
            records=self._records(task.name, task.number),
            prompt="" if is_command else task.prompt(seat.instructions, start, seat.style),
            command=task.command,
            bindings=task.results,
            limits=seat.limits,
            grace=GRACE,
            result_schema={} if is_command else schema(task.role),
            check=task.check,
            touches=task.touches,
            max_cost_usd=task.allowance,
            confinement=place.confinement.opened(scratch) if place.confinement is not None else None,
            meter=order.meter,
        )
