"""One attempt, from the choice of its agent to a result that is on disk and checked. A maker makes it."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from functools import partial

from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.clock import now
from aotloop.core.checks.checklist import Node, is_decidable
from aotloop.core.scheduler import reports
from aotloop.errors import AotError, refusal
from aotloop.execution.agent_pool import SHELL, AgentPool, Seat
from aotloop.execution.attempts.attempt_result import (
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
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.maker import Brought, Lost, Maker, Order
from aotloop.execution.attempts.warm_starts import WarmStarts
from aotloop.execution.availability import CRASHING, Busy, Gone
from aotloop.execution.budget import Budget, bill_of, priced
from aotloop.execution.checker import CheckOrder, Checks
from aotloop.execution.isolation.place import Isolation, Refusal
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.records import CheckedPart, Record, Work
from aotloop.execution.task import Task
from aotloop.execution.verification import Found
from aotloop.text.shorten import headline

_PAUSE = 15.0
_Failure = contract.Failed | contract.Garbage | contract.TimedOut | contract.Crashed
_FORMLESS = "its work passes the check, but its answer is not in the form that was asked for"


class Attempts:
    def __init__(
        self,
        *,
        isolation: Isolation,
        checks: Checks,
        agent_pool: AgentPool,
        budget: Budget | None = None,
        journal: Journal,
        maker: Maker,
        conversations: Conversations | None = None,
    ) -> None:
        self._checks = checks
        self.warm_starts = WarmStarts(isolation, checks, journal)
        self._agent_pool = agent_pool
        self._budget = budget if budget is not None else Budget()
        self._journal = journal
        self._maker = maker
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
            refused = refusal(error)
            return unavailable(task, refused.message, str(refused))

    async def _make_with(self, seat: Seat, task: Task) -> Made:
        if task.allowance is not None and task.allowance <= 0 and seat.agent != SHELL:
            return waits(task, "what is left of the money is reserved for others", _PAUSE)
        if task.allowance is not None and _needs_price(seat):
            why = f"it tells no cost, so no limit of money can hold: give it a `price` ([agents.{seat.agent}])"
            self._agent_pool.dismiss(seat, why)
            return self._excused(task, seat, why)
        order = Order(task=task, seat=seat, start=await self.warm_starts.start(task))
        order.meter.on_read = partial(self._note_meter, order)
        async with AsyncExitStack() as stack:
            brought = await self._brought(stack, order)
            made = await self._made_of(brought, order)
        return await self._compared(task, made)

    async def _brought(self, stack: AsyncExitStack, order: Order) -> Brought | Lost:
        began = time.monotonic()
        try:
            return await stack.enter_async_context(self._maker.make(order))
        except asyncio.CancelledError:
            self._interrupt(order, time.monotonic() - began)
            raise

    async def _made_of(self, brought: Brought | Lost, order: Order) -> Made:
        if isinstance(brought, Lost):
            return self._lost(brought, order)
        task, outcome = order.task, brought.outcome
        self._budget.settle(task.number, bill_of(outcome).usd or 0.0)  # the rest of its budget pays its judge
        made = await self._taken(order, brought)
        if made.record is None:
            made = await self._ended(task, brought, made)
        elif isinstance(made.report, reports.WorkDone):
            self._conversations.checked(task, made.record.work)
        notes = (*outcome.notes, *made.notes)
        return replace(made, seconds=outcome.seconds, bill=bill_of(outcome), notes=notes)

    def _lost(self, lost: Lost, order: Order) -> Made:
        task, seat, ended = order.task, order.seat, lost.ended
        if lost.error is None:
            made = waits(task, ended.reason, _PAUSE if ended.retry_after is None else ended.retry_after)
        else:
            self._agent_pool.dismiss(seat, refusal(lost.error).message)
            if not self._agent_pool.is_another_left(seat, task):
                raise lost.error
            made = self._excused(task, seat, ended.reason)
        bill = bill_of(ended)
        self._budget.settle(task.number, bill.usd or 0.0)
        record = self._filed(record_of(task, ended), made.report)
        return replace(made, record=record, seconds=ended.seconds, bill=bill, notes=ended.notes)

    def _note_meter(self, order: Order) -> None:
        """If this run is killed, the next one knows what this attempt has used by now."""
        self._journal.note_meter(_so_far(order, 0.0))

    def _interrupt(self, order: Order, seconds: float) -> None:
        """Writes the usage to disk before it reports it, so no spent money is forgotten."""
        task, record = order.task, _so_far(order, seconds)
        self.interrupted[task.number] = Interrupted(record=record, seconds=round(seconds, 3))
        if not record.bill.is_empty:
            with suppress(AotError, OSError):
                self._journal.keep(record)

    def _filed(self, record: Record, report: reports.OfAttempt) -> Record | None:
        """The record is on disk before the result is reported: if this run dies, the next one knows result and cost.

        An attempt that has to wait has no result.
        """
        ended = None if isinstance(report, reports.MustWait) else report
        if ended is None and record.bill.is_empty:
            self._journal.use(record)
            return None
        record = told_by(record, ended)
        self._journal.keep(record)
        return record

    async def _ended(self, task: Task, brought: Brought, made: Made) -> Made:
        """An attempt without a result; its files may still be useful for the next one."""
        made = replace(made, record=self._filed(record_of(task, brought.outcome), made.report))
        if made.left is not None or made.checks:
            return made
        work = brought.work if isinstance(brought.work, Work) else None
        is_void = isinstance(brought.outcome, contract.Failed) and brought.outcome.is_void
        is_failure = isinstance(made.report, reports.WorkFailed) and not is_void
        left = await self.warm_starts.left(task, brought.start, work) if is_failure else None
        return replace(made, left=left)

    async def _compared(self, task: Task, made: Made) -> Made:
        """Compares the files with the next attempt's start. The record already says that this one failed."""
        if made.record is None or not isinstance(made.report, reports.WorkFailed):
            return made
        kept = await self.warm_starts.kept(task.check, made.left, task.warm_start.most_in_vain)
        report = replace(made.report, progress=kept.attempt == task.number)
        record = replace(told_by(made.record, report), kept=kept)
        self._journal.keep(record)
        return replace(made, report=report, record=record)

    async def _taken(self, order: Order, brought: Brought) -> Made:
        task, seat, outcome = order.task, order.seat, brought.outcome
        is_excused = self._agent_pool.take_note(seat, task, outcome)
        match outcome:
            case contract.Done():
                return await self._done(task, brought, outcome)
            case contract.Proposed(children=children, reason=reason):
                report = reports.ChildrenProposed(at=now(), attempt=task.number, children=children, reason=reason)
                notes = note_on_covers(children, task)
                return Made(report=report, outcome="proposed", summary=reason, notes=notes)
            case contract.Probed():
                return _probed(task, brought, outcome)
            case contract.Judged() | contract.Scored() | contract.Planned():
                return failed(task, "garbage", "its answer belongs to another role")
            case _ if is_excused or isinstance(outcome, contract.MustWait):
                return self._excused(task, seat, outcome.reason)
            case _:
                return await self._failed(task, brought, outcome)

    def _excused(self, task: Task, seat: Seat, reason: str) -> Made:
        """The agent is the cause, not the atom: another agent is asked, now or as soon as one is free."""
        line = f"{seat.agent}: {reason}"
        match self._agent_pool.seat(task):
            case Busy(seconds=seconds):
                return waits(task, line, seconds)
            case Seat(agent=agent):
                return waits(task, f"{line}; {agent} is asked next" if agent != seat.agent else line, 0.0)
            case Gone(reason=gone) if CRASHING in gone:
                return unavailable(task, gone)
            case _:
                return unavailable(task, line)

    async def _done(self, task: Task, brought: Brought, outcome: contract.Done) -> Made:
        work = brought.work
        if isinstance(work, Refusal) or work is None:
            return failed(task, "failed", work.reason if work is not None else "its files are gone")
        made = await self._checked(task, record_of(task, outcome, work), brought)
        lost = (f"changes in submodules were left out: {', '.join(work.left_out)}",) if work.left_out else ()
        obeyed = f"it changes settings that your own programs obey; read them first: {', '.join(work.settings)}"
        return replace(made, notes=(*made.notes, *lost, *((obeyed,) if work.settings else ())))

    async def _failed(self, task: Task, brought: Brought, outcome: _Failure) -> Made:
        """If only the form of the answer is wrong, the check decides about the work."""
        failure = failed(task, kind_of(outcome), outcome.reason, outcome)
        if not isinstance(outcome, contract.Garbage) or task.role != "worker" or not is_decidable(task.check):
            return failure
        counts = {name: getattr(outcome, name) for name in ("cost_usd", "tokens", "turns", "seconds")}
        made = await self._done(task, brought, contract.Done(summary=_FORMLESS, **counts))
        if isinstance(made.report, reports.WorkDone):
            return replace(made, notes=(*made.notes, f"{_FORMLESS}: {headline(outcome.reason)}"))
        return replace(failure, left=made.left)

    async def _checked(self, task: Task, record: Record, brought: Brought | None = None) -> Made:
        """The result is on disk before it is checked: after a crash it is not paid for twice.

        `brought` None: it was made by an earlier run.
        """
        parts: tuple[CheckedPart, ...] = ()
        if task.check is not None:
            self._journal.keep(record)
            found = brought.found if brought is not None else None
            if found is None:
                found = await self._found(task, task.check, record.work)
            if found.problem is not None:
                made = failed(task, "failed", f"it says that it is done, but {found.problem}")
                start = brought.start if brought is not None else None
                left = await self.warm_starts.left(task, start, record.work, found)
                return replace(made, left=left, checks=found.parts)
            parts = found.parts
        report = reports.WorkDone(at=now(), attempt=task.number, summary=record.summary, artifacts=record.artifacts)
        work = replace(record.work, is_checked=True) if record.work is not None else None
        record = told_by(replace(record, work=work), report)
        self._journal.keep(record)
        return Made(report=report, outcome="done", summary=record.summary, record=record, checks=parts)

    async def _found(self, task: Task, check: Node, work: Work | None) -> Found:
        commit = (work.commit or work.base) if work is not None else None
        order = CheckOrder(
            check=check, commit=commit, task=task.name, attempt=task.number, epoch=task.epoch, judge=task.judge
        )
        return (await self._checks.check(order)).found

    async def _check(self, task: Task, record: Record) -> Made:
        """Checks the files that are there."""
        made = await self._checked(task, record)
        if made.record is None:
            made = replace(made, record=self._filed(replace(record, work=None), made.report))
        return await self._compared(task, made)


def _probed(task: Task, brought: Brought, outcome: contract.Probed) -> Made:
    if not brought.is_untouched:
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


def _needs_price(seat: Seat) -> bool:
    return seat.price is None and seat.agent != SHELL and seat.backend.capabilities.cost_report == "missing"


def _so_far(order: Order, seconds: float) -> Record:
    """The record of an attempt that is ended now."""
    meter = order.meter
    ended = contract.Crashed(reason="ended by us", tokens=meter.tokens, cost_usd=meter.cost_usd, seconds=seconds)
    return replace(record_of(order.task, priced(ended, order.seat.price)), outcome="cancelled")
