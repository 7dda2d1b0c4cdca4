"""One attempt, from an empty place to a result that is on disk and checked. Other modules decide what follows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.answers.results import schema
from aotloop.agents.contract import Assignment, Outcome
from aotloop.agents.scratch import keep_answer
from aotloop.clock import now
from aotloop.core.checklist import is_decidable
from aotloop.core.scheduler import reports
from aotloop.errors import AotError, refusal
from aotloop.execution.agent_pool import CRASHING, SHELL, AgentPool, Busy, Gone, Seat
from aotloop.execution.attempt_result import (
    Interrupted,
    Made,
    failed,
    kind_of,
    note_on_covers,
    record_of,
    told_by,
    unavailable,
    waits,
    without_agent,
)
from aotloop.execution.budget import Budget, bill_of, priced
from aotloop.execution.conversation import Conversations
from aotloop.execution.isolation.place import Isolation, Place, Refusal, start_of
from aotloop.execution.journal import Journal
from aotloop.execution.records import CheckedPart, Record, Work
from aotloop.execution.task import Task
from aotloop.execution.verification import Verification
from aotloop.execution.warm_starts import WarmStarts
from aotloop.fence.agent_folder import agent_folder
from aotloop.text.shorten import headline

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, unless a person asks for an immediate end."""

_PAUSE = 15.0
_Failure = contract.Failed | contract.Garbage | contract.TimedOut | contract.Crashed
_FORMLESS = "its work passes the check, but its answer is not in the form that was asked for"
_UNCOUNTED = ("codex",)
"""Clients that tell tokens only at their end, and no money: with a limit of money they need a price."""


class Attempts:
    def __init__(
        self,
        *,
        isolation: Isolation,
        verification: Verification,
        agent_pool: AgentPool,
        budget: Budget | None = None,
        journal: Journal,
        state_file: Path,
        on_output: Callable[[int, str], None],
        conversations: Conversations | None = None,
    ) -> None:
        self._isolation = isolation
        self._verification = verification
        self.warm_starts = WarmStarts(isolation, verification, journal)
        self._agent_pool = agent_pool
        self._budget = budget if budget is not None else Budget()
        self._journal = journal
        self._state_file = state_file
        self._on_output = on_output
        self._conversations = conversations if conversations is not None else Conversations()
        self.interrupted: dict[int, Interrupted] = {}
        """Attempts that were cancelled, by number. The run takes them out."""

    async def make(self, task: Task) -> Made:
        try:
            if task.found is not None:
                return await self._check(task, task.found)
            match self._agent_pool.seat(task):
                case None:
                    return without_agent(task)
                case Busy(seconds=seconds, reason=reason):
                    return waits(task, reason, seconds)
                case Gone(reason=reason):
                    return unavailable(task, reason)
                case seat:
                    return await self._make_with(seat, task)
        except (AotError, OSError) as error:  # no program could start, and the task is not the cause
            told = refusal(error)
            return unavailable(task, told.message, str(told))

    async def _make_with(self, seat: Seat, task: Task) -> Made:
        if task.allowance is not None and task.allowance <= 0 and seat.agent != SHELL:
            return waits(task, "what is left of the money is reserved for others", _PAUSE)
        if task.allowance is not None and seat.price is None and seat.backend.name in _UNCOUNTED:
            why = f"it tells no cost, so no limit of money can hold: give it a `price` ([agents.{seat.agent}])"
            self._agent_pool.dismiss(seat, why)
            return self._excused(task, seat, why)
        place = await self.warm_starts.place(task)
        try:
            made = await self._make_at(place, task, seat)
        finally:
            await self._isolation.leave(place)
        return await self._compared(task, made)

    async def _make_at(self, place: Place, task: Task, seat: Seat) -> Made:
        try:
            outcome = await self._outcome(place, task, seat)
            self._budget.settle(task.number, bill_of(outcome).usd or 0.0)  # the rest of its budget pays its judge
            made = await self._taken(place, task, seat, outcome)
        except asyncio.CancelledError:
            await self._keep(place, task)
            raise
        if made.record is None:
            made = await self._ended(place, task, outcome, made)
        elif isinstance(made.report, reports.WorkDone):
            self._conversations.checked(place, task, made.record.work)
        notes = (*outcome.notes, *made.notes)
        return replace(made, seconds=outcome.seconds, bill=bill_of(outcome), notes=notes)

    async def _outcome(self, place: Place, task: Task, seat: Seat) -> Outcome:
        on_output = partial(self._on_output, task.number)
        began, meter = time.monotonic(), contract.Meter()
        try:
            with agent_folder() as scratch:
                assignment = replace(self._assignment(place, task, seat, scratch), meter=meter)
                async with self._isolation.watched(place, assignment) as watch:
                    outcome = await self._conversations.run(seat, place, task, assignment, on_output)
                keep_answer(assignment)
        except asyncio.CancelledError:
            self._interrupt(task, seat, meter, time.monotonic() - began)
            raise
        except AotError as error:
            self._agent_pool.dismiss(seat, refusal(error).message)
            if self._agent_pool.is_another_left(seat, task):
                return contract.MustWait(reason=error.message, retry_after=0.0)
            raise
        outcome = priced(watch.judged(outcome), seat.price)
        if outcome.cost_usd is None and outcome.tokens is not None:  # it ended before its client could tell
            return replace(outcome, cost_usd=meter.cost_usd)
        return outcome

    def _interrupt(self, task: Task, seat: Seat, meter: contract.Meter, seconds: float) -> None:
        """What it used is on disk, and then told: money that was spent is never forgotten."""
        ended = contract.Crashed(reason="ended by us", tokens=meter.tokens, cost_usd=meter.cost_usd, seconds=seconds)
        outcome = priced(ended, seat.price)
        record = replace(record_of(task, outcome), outcome="cancelled")
        self.interrupted[task.number] = Interrupted(record=record, seconds=round(seconds, 3))
        if not record.bill.is_empty:
            with suppress(AotError, OSError):
                self._journal.keep(record)

    def _filed(self, record: Record, report: reports.OfAttempt) -> Record | None:
        """The record is on disk before the result is reported: if this run dies, the next one knows result and cost.

        An attempt that has to wait has no result.
        """
        told = None if isinstance(report, reports.MustWait) else report
        if told is None and record.bill.is_empty:
            self._journal.use(record)
            return None
        record = told_by(record, told)
        self._journal.keep(record)
        return record

    async def _ended(self, place: Place, task: Task, outcome: Outcome, made: Made) -> Made:
        """An attempt without a result; its files may still be useful for the next one."""
        made = replace(made, record=self._filed(record_of(task, outcome), made.report))
        if made.left is not None:
            return made
        work = await self._keep(place, task)
        is_void = isinstance(outcome, contract.Failed) and outcome.is_void
        is_failure = isinstance(made.report, reports.WorkFailed) and not is_void
        left = await self.warm_starts.left(task, place, work) if is_failure else None
        return replace(made, left=left)

    async def _keep(self, place: Place, task: Task) -> Work | None:
        with suppress(AotError, OSError):  # lost evidence does not fail an attempt
            return await self._isolation.keep(place, task)
        return None

    async def _compared(self, task: Task, made: Made) -> Made:
        """Compares the files with the next attempt's start. The record already says that this one failed."""
        if made.record is None or not isinstance(made.report, reports.WorkFailed):
            return made
        kept = await self.warm_starts.kept(task.check, made.left, task.warm_start.most_in_vain)
        report = replace(made.report, progress=kept.attempt == task.number)
        record = replace(told_by(made.record, report), kept=kept)
        self._journal.keep(record)
        return replace(made, report=report, record=record)

    def _assignment(self, place: Place, task: Task, seat: Seat, scratch: Path) -> Assignment:
        is_command = task.command is not None
        return Assignment(
            role=task.role,
            atom=task.name,
            attempt=task.number,
            run_id=task.run_id,
            epoch=task.epoch,
            cwd=place.cwd,
            state_file=self._state_file,
            scratch=scratch,
            records=self._journal.attempt_folder(task.name, task.number),
            prompt=""
            if is_command
            else task.prompt(seat.instructions, start_of(place, in_place=self._isolation.branch is None), seat.style),
            command=task.command,
            bindings=task.results,
            limits=seat.limits,
            grace=GRACE,
            result_schema={} if is_command else schema(task.role),
            check=task.check,
            touches=task.touches,
            max_cost_usd=task.allowance,
            confinement=place.confinement.opened(scratch) if place.confinement is not None else None,
        )

    async def _taken(self, place: Place, task: Task, seat: Seat, outcome: Outcome) -> Made:
        is_excused = self._agent_pool.take_note(seat, task, outcome)
        match outcome:
            case contract.Done():
                return await self._done(place, task, outcome)
            case contract.Proposed(children=children, reason=reason):
                report = reports.ChildrenProposed(at=now(), attempt=task.number, children=children, reason=reason)
                notes = note_on_covers(children, task)
                return Made(report=report, outcome="proposed", summary=reason, notes=notes)
            case contract.Probed():
                return await self._probed(place, task, outcome)
            case contract.Judged() | contract.Scored() | contract.Planned():
                return failed(task, "garbage", "its answer belongs to another role")
            case _ if is_excused or isinstance(outcome, contract.MustWait):
                return self._excused(task, seat, outcome.reason)
            case _:
                return await self._failed(place, task, outcome)

    def _excused(self, task: Task, seat: Seat, reason: str) -> Made:
        """The agent is the cause, not the atom: another agent is asked, now or as soon as one is free."""
        told = f"{seat.agent}: {reason}"
        match self._agent_pool.seat(task):
            case Busy(seconds=seconds):
                return waits(task, told, seconds)
            case Seat(agent=agent):
                return waits(task, f"{told}; {agent} is asked next" if agent != seat.agent else told, 0.0)
            case Gone(reason=gone) if CRASHING in gone:
                return unavailable(task, gone)
            case _:
                return unavailable(task, told)

    async def _probed(self, place: Place, task: Task, outcome: contract.Probed) -> Made:
        if not await self._isolation.is_untouched(place):
            return failed(task, "failed", "the probe changed files, which makes its findings void")
        report = reports.ProbeReturned(
            at=now(),
            attempt=task.number,
            feasible=outcome.feasible,
            findings=outcome.findings,
            estimate=outcome.estimate,
            children=outcome.children,
        )
        notes = note_on_covers(outcome.children, task)
        return Made(report=report, outcome="probed", summary=outcome.findings, notes=notes)

    async def _done(self, place: Place, task: Task, outcome: contract.Done) -> Made:
        work = await self._isolation.finish(place, task)
        if isinstance(work, Refusal):
            return failed(task, "failed", work.reason)
        made = await self._checked(place, task, record_of(task, outcome, work))
        lost = (f"changes in submodules were left out: {', '.join(work.left_out)}",) if work.left_out else ()
        return replace(made, notes=(*made.notes, *lost))

    async def _failed(self, place: Place, task: Task, outcome: _Failure) -> Made:
        """If only the form of the answer is wrong, the check decides about the work."""
        failure = failed(task, kind_of(outcome), outcome.reason, outcome)
        if not isinstance(outcome, contract.Garbage) or task.role != "worker" or not is_decidable(task.check):
            return failure
        counts = {name: getattr(outcome, name) for name in ("cost_usd", "tokens", "turns", "seconds")}
        made = await self._done(place, task, contract.Done(summary=_FORMLESS, **counts))
        if isinstance(made.report, reports.WorkDone):
            return replace(made, notes=(*made.notes, f"{_FORMLESS}: {headline(outcome.reason)}"))
        return replace(failure, left=made.left)

    async def _checked(self, place: Place, task: Task, record: Record) -> Made:
        """The result is on disk before it is checked: after a crash it is not paid for twice."""
        parts: tuple[CheckedPart, ...] = ()
        if task.check is not None:
            self._journal.keep(record)
            work = record.work
            commit = (work.commit or work.base) if work is not None else None
            async with self._isolation.to_check(commit) as clean:
                found = await self._verification.found(task.check, clean.cwd, task.judge, clean.confinement)
            if found.problem is not None:
                made = failed(task, "failed", f"it says that it is done, but {found.problem}")
                left = await self.warm_starts.left(task, place, record.work, found)
                return replace(made, left=left, checks=found.parts)
            parts = found.parts
        report = reports.WorkDone(at=now(), attempt=task.number, summary=record.summary, artifacts=record.artifacts)
        work = replace(record.work, is_checked=True) if record.work is not None else None
        record = told_by(replace(record, work=work), report)
        self._journal.keep(record)
        return Made(report=report, outcome="done", summary=record.summary, record=record, checks=parts)

    async def _check(self, task: Task, record: Record) -> Made:
        """Checks the files that are there."""
        place = await self._isolation.take(record.work.commit if record.work is not None else None)
        try:
            made = await self._checked(place, task, record)
        finally:
            await self._isolation.leave(place)
        if made.record is None:
            made = replace(made, record=self._filed(replace(record, work=None), made.report))
        return await self._compared(task, made)
