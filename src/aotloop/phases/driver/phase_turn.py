"""One turn of a phase: an agent's attempt, its work on the branch, a receipt for it, and what follows from that.

The result of a turn is on disk before the next step uses it. So a process that dies in between neither loses the
result nor pays for it twice.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Literal

from msgspec.structs import replace

from aotloop.clock import now
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.promise import promise_in
from aotloop.core.phases.receipts import receipt_of
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.outcomes import MOST_WAITS
from aotloop.errors import AotError, refusal
from aotloop.execution import run_events
from aotloop.execution.attempts.attempt_names import names_in
from aotloop.execution.attempts.attempt_result import Made
from aotloop.execution.integration.integrator import BranchSteps, integrate
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.journals.records import Record, Work
from aotloop.execution.task import Task
from aotloop.execution.threads import in_thread
from aotloop.phases.driver.artifacts import changed_by, claimed
from aotloop.phases.driver.claims import Claims
from aotloop.phases.driver.phase_run import DriverContext, epoch_of
from aotloop.phases.driver.refused_work import RefusedWork
from aotloop.phases.driver.turn_task import turn_of
from aotloop.phases.guidance import instructions_for
from aotloop.text.phrases import listed

_TURN = "turn "
"""Together with its number this names the bill of a turn."""
_MOST_DIGITS = 9
_NO_PARTS = "it proposed parts, and a phase is done in one piece"


class Turns:
    def __init__(self, context: DriverContext, claims: Claims) -> None:
        self._context = context
        self._claims = claims
        self._project = context.project
        self._journal = context.journal
        events = EventsFile(context.project.store.path)
        self._names = names_in(events, context.terms.run_id)
        self._refused = RefusedWork(context)

    async def take_up(self) -> None:
        """Takes up the results of a process that died: their cost is counted, their work in this phase is filed."""
        for record in self._journal.records(self._context.terms.run_id):
            known, loop = self._accounted(record), self._claims.loop
            is_of_now = _is_of_now(known, loop)
            if is_of_now and self._is_there(known) and loop.status == "running":
                await self._settle(known)
            elif is_of_now and known.report is not None and loop.status == "running":
                await self._fail_again(loop, known.report, known)
            elif loop.status == "running" or not is_of_now:
                self._journal.use(known)

    async def ask_again(self) -> None:
        """Tests that waited for approval when the loop was stopped wait again; they are not written a second time."""
        loop = self._claims.loop
        receipt = receipt_of(loop, "spec_test")
        if receipt is None or (loop.phase, loop.status) != ("spec_test", "running"):
            return
        summaries = [checkpoint.summary for checkpoint in loop.checkpoints if checkpoint.phase == "spec_test"]
        await self._claims.file(receipt.artifact, receipt.git_sha, summaries[-1] if summaries else "")

    async def take(self) -> None:
        loop = self._claims.loop
        made = await self._made(loop)
        match made.report if made is not None else None:
            case None:
                return
            case reports.WorkDone() if made is not None and made.record is not None:
                await self._settle(made.record)
            case report if made is not None:
                await self._fail(loop, report, made.record)

    # --- the attempt ---------------------------------------------------------------------------------------------

    async def _made(self, loop: PhaseLoop) -> Made | None:
        """Waits do not count as turns, but their number is limited. None: the loop cannot go on now."""
        reason = ""
        for _ in range(MOST_WAITS + 1):
            start = await in_thread(partial(self._refused.start, loop))
            made = await self._attempt(turn_of(loop, self._context.terms, self._next_number(), start))
            if made.record is not None:
                made = replace(made, record=self._accounted(made.record))
            if self._claims.loop.status != "running":
                return None  # the budget is spent, for example; the work is taken up when the loop is resumed
            if not isinstance(made.report, reports.MustWait):
                return made
            reason = made.report.reason
            if made.report.for_good:
                break
            await asyncio.sleep(made.retry_after)
        self._claims.stop(f"blocked: {reason}")
        return None

    async def _attempt(self, task: Task) -> Made:
        name, number, tell = task.name, task.number, self._context.tell
        agent = self._context.agent_pool.who_is_next(task) or ""
        folder = str(self._journal.attempt_folder(name, number).relative_to(self._journal.root))
        shown = self._names.of(name, number)
        tell(
            run_events.AttemptBegan(
                at=now(), atom=name, attempt=number, role="worker", agent=agent, folder=folder, name=shown
            )
        )
        try:
            made = await self._context.attempts.make(task)
        except asyncio.CancelledError:
            tell(run_events.AttemptEnded(at=now(), atom=name, attempt=number, outcome="cancelled", name=shown))
            raise
        for text in made.notes:
            tell(run_events.Warned(at=now(), atom=name, text=text))
        tell(
            run_events.AttemptEnded(
                at=now(),
                atom=name,
                attempt=number,
                outcome=made.outcome,
                summary=made.summary,
                seconds=round(made.seconds, 3),
                cost_usd=made.bill.usd,
                used=made.bill.used,
                name=shown,
            )
        )
        return made

    def _next_number(self) -> int:
        """A number that no bill has either: it identifies bills, and journals may have been removed."""
        numbers = (bill.of.removeprefix(_TURN) for bill in self._claims.loop.bills if bill.of.startswith(_TURN))
        billed = max((int(text) for text in numbers if text.isdecimal() and len(text) <= _MOST_DIGITS), default=0)
        on_branch = self._context.branch.last_attempt(self._context.terms.run_id)
        return 1 + max(self._journal.last_attempt(), on_branch, billed)

    def _accounted(self, record: Record) -> Record:
        """The loop has its cost, and the record says so. A record without work is then used up."""
        if record.is_accounted or record.bill.is_empty:
            return record
        if record.bill.usd:
            self._claims.spent(f"{_TURN}{record.attempt}", record.bill.usd)
        record = replace(record, is_accounted=True)
        if record.work is not None or record.report is not None:
            self._journal.keep(record)
        else:
            self._journal.use(record)
        return record

    # --- the result ----------------------------------------------------------------------------------------------

    def _is_there(self, record: Record) -> bool:
        if record.work is None:
            return False
        return record.work.commit is None or self._context.branch.has(record.work.commit)

    async def _settle(self, record: Record) -> None:
        """The record is used up before the turn is ended, so that a later run does not end the turn twice."""
        loop, commit = self._claims.loop, None
        if not _is_of_now(record, loop):
            self._claims.warn(f"the loop moved on during {record.atom}; its result is set aside")
            self._journal.use(record)
            return
        if record.work is not None and record.work.commit is not None:
            outcome = await self._land(record.work)
            if isinstance(outcome, Blocked):
                self._tell_hindrance(record, "blocked", outcome.reason)
                self._claims.stop(f"blocked: {outcome.reason}")
                return
            if isinstance(outcome, Conflicting):
                reason = f"it conflicts with what was committed meanwhile: {listed(outcome.paths)}"
                self._tell_hindrance(record, "conflict", reason)
                self._journal.use(record)
                self._claims.failed(reason, now())
                await self._claims.end_turn(loop)
                return
            commit = outcome.commit
        self._context.tell(run_events.Merged(at=now(), atom=record.atom, attempt=record.attempt, commit=commit))
        if await self._claims.is_held_up():
            return  # it is taken up when the loop is resumed
        counts = await self._file(loop, record, commit)
        if commit is not None and not counts:
            await in_thread(partial(self._refused.withdraw, record.atom, commit))
        self._journal.use(record)
        await self._claims.end_turn(loop)

    async def _land(self, work: Work) -> Landed | Conflicting | Blocked:
        try:
            outcome = await integrate(BranchSteps(self._context.branch, work, self._context.terms.run_id))
        except (AotError, OSError) as error:
            return Blocked(refusal(error).message)
        if not isinstance(outcome, Landed | Conflicting | Blocked):
            raise AssertionError("a turn has no check, and it is always wanted")  # noqa: TRY004 - it cannot be
        return outcome

    async def _file(self, loop: PhaseLoop, record: Record, commit: str | None) -> bool:
        """Whether the receipt counts."""
        counts = loop.phase == "ship" and commit is None and receipt_of(loop, "ship") is not None
        if not counts:
            artifact = await in_thread(partial(self._claimed, loop, record, commit))
            counts = await self._claims.file(artifact, commit, record.summary)
        if (promise := promise_in(record.summary)) is None:
            return counts
        if loop.phase != "ship":
            self._claims.warn(f"a promise counts in ship alone, and this is {loop.phase}: it changes nothing")
        elif self._claims.loop.status == "running":
            await self._claims.promise(promise)
        return counts

    def _claimed(self, loop: PhaseLoop, record: Record, commit: str | None) -> str:
        changed = changed_by(self._project, commit) if commit is not None else []
        return claimed(loop, record.artifacts, instructions_for(loop, self._project.settings).artifact, changed)

    async def _fail(self, loop: PhaseLoop, report: reports.OfAttempt, record: Record | None) -> None:
        self._claims.failed(_reason_of(report), report.at)
        await self._claims.end_turn(loop)
        if record is not None:
            self._journal.use(record)

    async def _fail_again(self, loop: PhaseLoop, report: reports.OfAttempt, record: Record) -> None:
        """The loop says whether it knows the failure already, and whether the turn has ended since."""
        failure = loop.phase, report.at, _reason_of(report)
        known = [error.iteration for error in loop.errors if (error.phase, error.timestamp, error.message) == failure]
        if not known:
            await self._fail(loop, report, record)
        elif known[-1] == loop.global_iteration:
            await self._claims.end_turn(loop)
        self._journal.use(record)

    def _tell_hindrance(self, record: Record, why: Literal["conflict", "blocked"], reason: str) -> None:
        event = run_events.NotMerged(at=now(), atom=record.atom, attempt=record.attempt, why=why, reason=reason)
        self._context.tell(event)


def _is_of_now(record: Record, loop: PhaseLoop) -> bool:
    return (record.atom, record.epoch) == (loop.phase, epoch_of(loop))


def _reason_of(report: reports.OfAttempt) -> str:
    return report.reason if isinstance(report, reports.WorkFailed) else _NO_PARTS
