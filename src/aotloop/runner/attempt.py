"""One attempt, from an empty place to a result that is on disk and checked. What follows is decided elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import shorten

import msgspec
from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.contract import Assignment, Outcome
from aotloop.agents.prompts import write_prompt
from aotloop.agents.results import schema
from aotloop.agents.wording import plain
from aotloop.core.conduct import reports
from aotloop.core.context import Context
from aotloop.core.effects import StartAttempt
from aotloop.errors import AotError, refusal
from aotloop.runner.checks import Checks
from aotloop.runner.clock import now
from aotloop.runner.crew import Crew, Seat
from aotloop.runner.journal import Journal, Record
from aotloop.runner.places import Place, Places, Refusal
from aotloop.runner.work import Label, Work

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL, unless somebody is in a hurry."""

_LONGEST_TITLE = 72


class Job(msgspec.Struct, frozen=True, kw_only=True):
    start: StartAttempt
    context: Context
    run_id: str

    @property
    def label(self) -> Label:
        atom = self.context.atom
        title = shorten(plain(f"{atom.id}: {atom.description}"), _LONGEST_TITLE, placeholder="…")
        return Label(atom=atom.id, attempt=self.start.attempt, run_id=self.run_id, title=title)


class Made(msgspec.Struct, frozen=True, kw_only=True):
    report: reports.OfAttempt
    outcome: str
    summary: str = ""
    record: Record | None = None
    """Of a result that can be merged, or that has cost something."""
    seconds: float = 0.0
    cost_usd: float | None = None
    retry_after: float | None = None
    notes: tuple[str, ...] = ()


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
    ) -> None:
        self._places = places
        self._checks = checks
        self._crew = crew
        self._journal = journal
        self._state_file = state_file
        self._on_output = on_output

    async def make(self, job: Job) -> Made:
        try:
            seat = self._crew.seat(job.context.atom, job.start.role)
            if seat is None:
                reason = "there is no agent to do it: --agent names one, or `agent` in aot.toml"
                return _failed(job, "unavailable", reason, taught=False)
            place = await self._places.take()
            try:
                return await self._make_at(place, job, seat)
            finally:
                await self._places.leave(place)
        except (AotError, OSError) as error:  # nothing could be started, and the atom is not to blame
            told = refusal(error)
            report = reports.MustWait(at=now(), attempt=job.start.attempt, reason=told.message, for_good=True)
            return Made(report=report, outcome="unavailable", summary=str(told))

    async def _make_at(self, place: Place, job: Job, seat: Seat) -> Made:
        number = job.start.attempt
        try:
            outcome = await seat.backend.run(self._assignment(place, job, seat), partial(self._on_output, number))
            made = await self._taken(place, job, outcome)
        except asyncio.CancelledError:
            await self._keep(place, job)
            raise
        if made.record is None:
            made = replace(made, record=self._filed(_record(job, outcome)))
            await self._keep(place, job)
        notes = (*outcome.notes, *made.notes)
        return replace(made, seconds=outcome.seconds, cost_usd=outcome.cost_usd, notes=notes)

    def _filed(self, record: Record) -> Record | None:
        """Of what cannot be merged, only what it cost has to be remembered."""
        if not record.cost_usd:
            self._journal.use(record)
            return None
        self._journal.keep(record)
        return record

    async def _keep(self, place: Place, job: Job) -> None:
        with suppress(AotError, OSError):  # evidence is worth no more trouble
            await self._places.keep(place, job.label)

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
            prompt="" if is_command else write_prompt(context, role),
            command=context.atom.run if is_command else None,
            bindings=context.results,
            limits=seat.limits,
            grace=GRACE,
            result_schema={} if is_command else schema(role),
            confinement=place.confinement.opened(scratch) if place.confinement is not None else None,
        )

    async def _taken(self, place: Place, job: Job, outcome: Outcome) -> Made:
        at, number = now(), job.start.attempt
        match outcome:
            case contract.Done():
                return await self._done(place, job, outcome)
            case contract.Proposed(children=children, reason=reason):
                report = reports.ChildrenProposed(at=at, attempt=number, children=children, reason=reason)
                return Made(report=report, outcome="proposed", summary=reason)
            case contract.Probed():
                return await self._probed(place, job, outcome)
            case contract.MustWait(reason=reason, retry_after=after):
                wait = reports.MustWait(at=at, attempt=number, reason=reason)
                return Made(report=wait, outcome="must_wait", summary=reason, retry_after=after)
            case contract.Judged() | contract.Scored() | contract.Planned():
                return _failed(job, "garbage", "it answered as somebody would who has another role", taught=False)
            case _:
                return _failed(job, _kind(outcome), outcome.reason, taught=outcome.taught)

    async def _probed(self, place: Place, job: Job, outcome: contract.Probed) -> Made:
        if not await self._places.is_untouched(place):
            return _failed(job, "failed", "the probe changed files, which makes its findings void", taught=False)
        report = reports.ProbeReturned(
            at=now(),
            attempt=job.start.attempt,
            feasible=outcome.feasible,
            findings=outcome.findings,
            estimate=outcome.estimate,
            children=outcome.children,
        )
        return Made(report=report, outcome="probed", summary=outcome.findings)

    async def _done(self, place: Place, job: Job, outcome: contract.Done) -> Made:
        """The result is on disk before it is checked: whatever happens to us, it is not paid for twice."""
        work = await self._places.finish(place, job.label)
        if isinstance(work, Refusal):
            return _failed(job, "failed", work.reason, taught=True)
        atom = job.context.atom
        if atom.check is not None:
            self._journal.keep(_record(job, outcome, work))
            problem = await self._checks.of_atom(atom.check, atom.id, place.cwd)
            if problem is not None:
                return _failed(job, "failed", f"it says that it is done, but {problem}", taught=True)
        record = _record(job, outcome, replace(work, is_checked=True))
        if work.commit is not None or atom.check is not None or outcome.cost_usd:  # else the state file will tell
            self._journal.keep(record)
        report = reports.WorkDone(
            at=now(), attempt=job.start.attempt, summary=outcome.summary, artifacts=outcome.artifacts
        )
        lost = (f"changes in submodules were left out: {', '.join(work.left_out)}",) if work.left_out else ()
        return Made(report=report, outcome="done", summary=outcome.summary, record=record, notes=lost)


def _failed(job: Job, outcome: str, reason: str, *, taught: bool) -> Made:
    report = reports.WorkFailed(at=now(), attempt=job.start.attempt, reason=reason, taught=taught)
    return Made(report=report, outcome=outcome, summary=reason)


def _kind(outcome: Outcome) -> str:
    return str(outcome.__struct_config__.tag)


def _record(job: Job, outcome: Outcome, work: Work | None = None) -> Record:
    done = outcome if isinstance(outcome, contract.Done) else None
    return Record(
        run_id=job.run_id,
        epoch=job.start.epoch,
        atom=job.context.atom.id,
        attempt=job.start.attempt,
        outcome=_kind(outcome),
        summary=done.summary if done is not None else "",
        artifacts=done.artifacts if done is not None else (),
        work=work,
        cost_usd=outcome.cost_usd,
    )
