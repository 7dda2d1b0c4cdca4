"""One turn of a phase: an attempt by an agent, its work on the branch, a receipt for it, and what follows from that.

Whatever a turn has come to is on disk before the next thing is done with it, so that a process that dies in between
neither loses it nor pays for it twice.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Literal

from msgspec.structs import replace

from aotloop.core.conduct import reports
from aotloop.core.conduct.attempts import MOST_WAITS
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.working import receipt_of
from aotloop.phases.filing import now
from aotloop.phases.telling import task_of
from aotloop.runner import news
from aotloop.runner.journal import Record
from aotloop.runner.made import Job, Made
from aotloop.runner.threads import in_thread
from aotloop.shipping.artifacts import changed_by, claimed
from aotloop.shipping.briefing import ONLY_LOOK, closed_in, failures_of, job_of
from aotloop.shipping.claims import Claims, promise_in
from aotloop.shipping.identity import epoch_of
from aotloop.shipping.landing import Conflicting, InTheWay, land
from aotloop.shipping.means import Means
from aotloop.shipping.places import Rules

_TURN = "turn "
"""And its number: what its bill is known by."""
_MOST_DIGITS = 9
_NO_PARTS = "it proposed parts, and a phase is done in one piece"


class Turns:
    def __init__(self, means: Means, claims: Claims) -> None:
        self._means = means
        self._claims = claims
        self._ground = means.ground
        self._journal = means.journal

    async def take_up(self) -> None:
        """What a process that died has left: what it cost is told; what it did in this stay in the phase is filed."""
        for record in self._journal.records(self._means.terms.run_id):
            known, loop = self._accounted(record), self._claims.loop
            is_of_now = (known.atom, known.epoch) == (loop.phase, epoch_of(loop))
            if is_of_now and self._is_there(known) and loop.status == "running":
                await self._settle(known)
            elif is_of_now and known.report is not None and loop.status == "running":
                await self._fail_again(loop, known.report, known)
            elif loop.status == "running" or not is_of_now:
                self._journal.use(known)

    async def ask_again(self) -> None:
        """Tests that waited for a person when the loop was stopped do so again; nobody is paid to write them twice."""
        loop = self._claims.loop
        receipt = receipt_of(loop, "spec_test")
        if receipt is None or (loop.phase, loop.status) != ("spec_test", "running"):
            return
        said = [one.summary for one in loop.checkpoints if one.phase == "spec_test"]
        await self._claims.file(receipt.artifact, receipt.git_sha, said[-1] if said else "")

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
        """Waits are no turns, but there is an end to them. None: it cannot go on now."""
        reason = ""
        for _ in range(MOST_WAITS + 1):
            self._means.places.rules = self._rules(loop)
            made = await self._attempt(job_of(loop, self._means.terms, self._next_number()))
            if made.record is not None:
                made = replace(made, record=self._accounted(made.record))
            if self._claims.loop.status != "running":
                return None  # the money is spent, say; what was done is taken up when it goes on
            if not isinstance(made.report, reports.MustWait):
                return made
            reason = made.report.reason
            if made.report.for_good:
                break
            await asyncio.sleep(made.retry_after)
        self._claims.stop(f"blocked: {reason}")
        return None

    async def _attempt(self, job: Job) -> Made:
        atom, number, tell = job.context.atom, job.start.attempt, self._means.tell
        agent = self._means.crew.who_is_next(atom, "worker") or "nobody"
        folder = str(self._journal.attempt_folder(atom.id, number).relative_to(self._journal.root))
        tell(news.AttemptBegan(at=now(), atom=atom.id, attempt=number, role="worker", agent=agent, folder=folder))
        try:
            made = await self._means.attempts.make(job)
        except asyncio.CancelledError:
            tell(news.AttemptEnded(at=now(), atom=atom.id, attempt=number, outcome="cancelled"))
            raise
        for text in made.notes:
            tell(news.Warned(at=now(), atom=atom.id, text=text))
        tell(
            news.AttemptEnded(
                at=now(),
                atom=atom.id,
                attempt=number,
                outcome=made.outcome,
                summary=made.summary,
                seconds=round(made.seconds, 3),
                cost_usd=made.bill.usd,
                used=made.bill.used,
            )
        )
        return made

    def _rules(self, loop: PhaseLoop) -> Rules:
        return Rules(
            protect=closed_in(loop),
            document=task_of(loop, self._ground.settings).artifact if loop.phase in ONLY_LOOK else None,
            log=loop.artifacts.progress_file,
            failed=tuple((loop.phase, text) for text in failures_of(loop)),
        )

    def _next_number(self) -> int:
        """A number that was never told a bill of either: journals may be gone, and money counts by it."""
        told = (bill.of.removeprefix(_TURN) for bill in self._claims.loop.bills if bill.of.startswith(_TURN))
        billed = max((int(one) for one in told if one.isdecimal() and len(one) <= _MOST_DIGITS), default=0)
        known = self._journal.last_attempt(), self._means.branch.last_attempt(self._means.terms.run_id), billed
        return 1 + max(known)

    def _accounted(self, record: Record) -> Record:
        """The loop knows what it cost; and the record says that it does. Of one that did nothing, that was all."""
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

    # --- what comes of it ----------------------------------------------------------------------------------------

    def _is_there(self, record: Record) -> bool:
        if record.work is None:
            return False
        return record.work.commit is None or self._means.branch.has(record.work.commit)

    async def _settle(self, record: Record) -> None:
        """Used up before its turn is ended: whoever takes it up after a crash does not end the turn twice."""
        loop, commit = self._claims.loop, None
        if (record.atom, record.epoch) != (loop.phase, epoch_of(loop)):
            self._claims.warn(f"somebody moved the loop on while {record.atom} was done; its result is set aside")
            self._journal.use(record)
            return
        if record.work is not None and record.work.commit is not None:
            landed = await land(self._means.branch, record.work, self._means.terms.run_id)
            if isinstance(landed, InTheWay):
                self._tell_hindrance(record, "blocked", landed.reason)
                self._claims.stop(f"blocked: {landed.reason}")
                return
            if isinstance(landed, Conflicting):
                self._tell_hindrance(record, "conflict", landed.reason)
                self._journal.use(record)
                self._claims.failed(landed.reason, now())
                await self._claims.end_turn(loop)
                return
            commit = landed.commit
        self._means.tell(news.Merged(at=now(), atom=record.atom, attempt=record.attempt, commit=commit))
        if await self._claims.is_held_up():
            return  # it is taken up when it goes on
        await self._file(loop, record, commit)
        self._journal.use(record)
        await self._claims.end_turn(loop)

    async def _file(self, loop: PhaseLoop, record: Record, commit: str | None) -> None:
        is_on_file = loop.phase == "ship" and commit is None and receipt_of(loop, "ship") is not None
        if not is_on_file:
            artifact = await in_thread(partial(self._claimed, loop, record, commit))
            await self._claims.file(artifact, commit, record.summary)
        if (promise := promise_in(record.summary)) is None:
            return
        if loop.phase != "ship":
            self._claims.warn(f"a promise counts in ship alone, and this is {loop.phase}: it changes nothing")
        elif self._claims.loop.status == "running":
            await self._claims.promise(promise)

    def _claimed(self, loop: PhaseLoop, record: Record, commit: str | None) -> str:
        changed = changed_by(self._ground, commit) if commit is not None else []
        return claimed(loop, record.artifacts, task_of(loop, self._ground.settings).artifact, changed)

    async def _fail(self, loop: PhaseLoop, report: reports.OfAttempt, record: Record | None) -> None:
        self._claims.failed(_reason_of(report), report.at)
        await self._claims.end_turn(loop)
        if record is not None:
            self._journal.use(record)

    async def _fail_again(self, loop: PhaseLoop, report: reports.OfAttempt, record: Record) -> None:
        """The loop says whether it knows of it already, and whether the turn has ended since."""
        told = loop.phase, report.at, _reason_of(report)
        known = [one.iteration for one in loop.errors if (one.phase, one.timestamp, one.message) == told]
        if not known:
            await self._fail(loop, report, record)
        elif known[-1] == loop.global_iteration:
            await self._claims.end_turn(loop)
        self._journal.use(record)

    def _tell_hindrance(self, record: Record, why: Literal["conflict", "blocked"], reason: str) -> None:
        self._means.tell(news.NotMerged(at=now(), atom=record.atom, attempt=record.attempt, why=why, reason=reason))


def _reason_of(report: reports.OfAttempt) -> str:
    return report.reason if isinstance(report, reports.WorkFailed) else _NO_PARTS
