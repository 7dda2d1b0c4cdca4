"""One attempt, from an empty place to a result that is on disk and checked. What follows is decided elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.contract import Assignment, Outcome
from aotloop.agents.prompts import Start, write_prompt
from aotloop.agents.results import schema
from aotloop.core.checklist import check_of
from aotloop.core.conduct import reports
from aotloop.errors import AotError, refusal
from aotloop.runner.availability import Busy, Gone
from aotloop.runner.bills import bill_of, priced
from aotloop.runner.checks import Checks
from aotloop.runner.clock import now
from aotloop.runner.crew import SHELL, Crew, Seat
from aotloop.runner.journal import Journal, Record
from aotloop.runner.made import Job, Made, failed, kind_of, note_on_covers, record_of, told_by, unavailable, waits
from aotloop.runner.places import Place, Places, Refusal
from aotloop.runner.sitting import Sittings
from aotloop.runner.warm_starts import WarmStarts
from aotloop.runner.work import Work

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, unless somebody is in a hurry."""

_PAUSE = 15.0


class Attempts:
    def __init__(
        self,
        *,
        places: Places,
        checks: Checks,
        crew: Crew,
        journal: Journal,
        state_file: Path,
        on_output: Callable[[int, str], None],
        sittings: Sittings | None = None,
    ) -> None:
        self._places = places
        self._checks = checks
        self.warm_starts = WarmStarts(places, checks, journal)
        self._crew = crew
        self._journal = journal
        self._state_file = state_file
        self._on_output = on_output
        self._sittings = sittings if sittings is not None else Sittings()

    async def make(self, job: Job) -> Made:
        try:
            if job.found is not None:
                return await self._check(job, job.found)
            match self._crew.seat(job.context.atom, job.start.role):
                case None:
                    return unavailable(job, "there is no agent to do it: --agent names one, or `agent` in aot.toml")
                case Busy(seconds=seconds, reason=reason):
                    return waits(job, reason, seconds)
                case Gone(reason=reason):
                    return unavailable(job, reason)
                case seat:
                    return await self._make_with(seat, job)
        except (AotError, OSError) as error:  # nothing could be started, and the atom is not to blame
            told = refusal(error)
            return unavailable(job, told.message, str(told))

    async def _make_with(self, seat: Seat, job: Job) -> Made:
        if job.allowance is not None and job.allowance <= 0 and seat.agent != SHELL:
            return waits(job, "what is left of the money is reserved for others", _PAUSE)
        place = await self.warm_starts.place(job)
        try:
            made = await self._make_at(place, job, seat)
        finally:
            await self._places.leave(place)
        return await self._compared(job, made)

    async def _make_at(self, place: Place, job: Job, seat: Seat) -> Made:
        try:
            outcome = await self._outcome(place, job, seat)
            made = await self._taken(place, job, seat, outcome)
        except asyncio.CancelledError:
            await self._keep(place, job)
            raise
        if made.record is None:
            made = await self._ended(place, job, outcome, made)
        elif isinstance(made.report, reports.WorkDone):
            self._sittings.checked(place, job, made.record.work)
        notes = (*outcome.notes, *made.notes)
        return replace(made, seconds=outcome.seconds, bill=bill_of(outcome), notes=notes)

    async def _outcome(self, place: Place, job: Job, seat: Seat) -> Outcome:
        on_output, assignment = partial(self._on_output, job.start.attempt), self._assignment(place, job, seat)
        try:
            async with self._places.watched(place, assignment) as watch:
                outcome = await self._sittings.run(seat, place, job, assignment, on_output)
        except AotError as error:
            self._crew.dismiss(seat, refusal(error).message)
            if self._crew.is_anybody_left(seat, job.context.atom):
                return contract.MustWait(reason=error.message, retry_after=0.0)
            raise
        return priced(watch.judged(outcome), seat.price)

    def _filed(self, record: Record, report: reports.OfAttempt) -> Record | None:
        """On disk before it is told: if this run dies, the next one knows what came of it, and what it cost.

        Nothing has come of what has to wait.
        """
        told = None if isinstance(report, reports.MustWait) else report
        if told is None and record.bill.is_empty:
            self._journal.use(record)
            return None
        record = told_by(record, told)
        self._journal.keep(record)
        return record

    async def _ended(self, place: Place, job: Job, outcome: Outcome, made: Made) -> Made:
        """Without a result; what it left may be worth another look all the same."""
        made = replace(made, record=self._filed(record_of(job, outcome), made.report))
        if made.left is not None:
            return made
        work = await self._keep(place, job)
        is_void = isinstance(outcome, contract.Failed) and outcome.is_void
        is_failure = isinstance(made.report, reports.WorkFailed) and not is_void
        left = await self.warm_starts.left(job, place, work) if is_failure else None
        return replace(made, left=left)

    async def _keep(self, place: Place, job: Job) -> Work | None:
        with suppress(AotError, OSError):  # evidence is worth no more trouble
            return await self._places.keep(place, job.label)
        return None

    async def _compared(self, job: Job, made: Made) -> Made:
        """With what the next attempt starts from. The record says already that this one failed, if this run dies."""
        if made.record is None or not isinstance(made.report, reports.WorkFailed):
            return made
        kept = await self.warm_starts.kept(job.context.atom, job.context.objective, made.left, job.most_in_vain)
        report = replace(made.report, progress=kept.attempt == job.start.attempt)
        record = replace(told_by(made.record, report), kept=kept)
        self._journal.keep(record)
        return replace(made, report=report, record=record)

    def _assignment(self, place: Place, job: Job, seat: Seat) -> Assignment:
        context, role = job.context, job.start.role
        is_command = context.atom.run is not None and role == "worker"
        scratch = self._journal.attempt_folder(context.atom.id, job.start.attempt)
        return Assignment(
            role=role,
            atom=context.atom.id,
            attempt=job.start.attempt,
            run_id=job.run_id,
            epoch=job.start.epoch,
            cwd=place.cwd,
            state_file=self._state_file,
            scratch=scratch,
            prompt="" if is_command else write_prompt(context, role, seat.instructions, self._start(place)),
            command=context.atom.run if is_command else None,
            bindings=context.results,
            limits=seat.limits,
            grace=GRACE,
            result_schema={} if is_command else schema(role),
            max_cost_usd=job.allowance,
            confinement=place.confinement.opened(scratch) if place.confinement is not None else None,
        )

    def _start(self, place: Place) -> Start:
        if self._places.branch is None:
            return Start(folder="as it is")
        if (kept := place.kept) is None:
            return Start(folder="fresh")
        return Start(folder="kept", attempt=kept.attempt, held=kept.held, failing=kept.failing)

    async def _taken(self, place: Place, job: Job, seat: Seat, outcome: Outcome) -> Made:
        is_excused = self._crew.take_note(seat, job.context.atom, outcome)
        match outcome:
            case contract.Done():
                return await self._done(place, job, outcome)
            case contract.Proposed(children=children, reason=reason):
                report = reports.ChildrenProposed(at=now(), attempt=job.start.attempt, children=children, reason=reason)
                notes = note_on_covers(children, job.context.objective)
                return Made(report=report, outcome="proposed", summary=reason, notes=notes)
            case contract.Probed():
                return await self._probed(place, job, outcome)
            case contract.Judged() | contract.Scored() | contract.Planned():
                return failed(job, "garbage", "it answered as somebody would who has another role")
            case _ if is_excused or isinstance(outcome, contract.MustWait):
                return self._excused(job, seat, outcome.reason)
            case _:
                return failed(job, kind_of(outcome), outcome.reason, outcome)

    def _excused(self, job: Job, seat: Seat, reason: str) -> Made:
        """It is the agent's doing, not the atom's: another one is asked, now or as soon as one can be."""
        told = f"{seat.agent}: {reason}"
        match self._crew.seat(job.context.atom, job.start.role):
            case Busy(seconds=seconds):
                return waits(job, told, seconds)
            case Seat(agent=agent):
                return waits(job, f"{told}; {agent} is asked next" if agent != seat.agent else told, 0.0)
            case _:
                return unavailable(job, told)

    async def _probed(self, place: Place, job: Job, outcome: contract.Probed) -> Made:
        if not await self._places.is_untouched(place):
            return failed(job, "failed", "the probe changed files, which makes its findings void")
        report = reports.ProbeReturned(
            at=now(),
            attempt=job.start.attempt,
            feasible=outcome.feasible,
            findings=outcome.findings,
            estimate=outcome.estimate,
            children=outcome.children,
        )
        notes = note_on_covers(outcome.children, job.context.objective)
        return Made(report=report, outcome="probed", summary=outcome.findings, notes=notes)

    async def _done(self, place: Place, job: Job, outcome: contract.Done) -> Made:
        work = await self._places.finish(place, job.label)
        if isinstance(work, Refusal):
            return failed(job, "failed", work.reason)
        made = await self._checked(place, job, record_of(job, outcome, work))
        lost = (f"changes in submodules were left out: {', '.join(work.left_out)}",) if work.left_out else ()
        return replace(made, notes=(*made.notes, *lost))

    async def _checked(self, place: Place, job: Job, record: Record) -> Made:
        """The result is on disk before it is checked: whatever happens to us, it is not paid for twice."""
        atom, objective = job.context.atom, job.context.objective
        if check_of(atom, objective.base_case) is not None:
            self._journal.keep(record)
            found = await self._checks.found(atom, place.cwd, objective)
            if found.problem is not None:
                made = failed(job, "failed", f"it says that it is done, but {found.problem}")
                return replace(made, left=await self.warm_starts.left(job, place, record.work, found))
        report = reports.WorkDone(
            at=now(), attempt=job.start.attempt, summary=record.summary, artifacts=record.artifacts
        )
        work = replace(record.work, is_checked=True) if record.work is not None else None
        record = told_by(replace(record, work=work), report)
        self._journal.keep(record)
        return Made(report=report, outcome="done", summary=record.summary, record=record)

    async def _check(self, job: Job, record: Record) -> Made:
        """What is there already."""
        place = await self._places.take(record.work.commit if record.work is not None else None)
        try:
            made = await self._checked(place, job, record)
        finally:
            await self._places.leave(place)
        if made.record is None:
            made = replace(made, record=self._filed(replace(record, work=None), made.report))
        return await self._compared(job, made)
