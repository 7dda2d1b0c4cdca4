"""What is to be tried, and what came of it: the values that an attempt begins and ends with."""

from __future__ import annotations

from textwrap import shorten

import msgspec
from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.contract import Outcome
from aotloop.agents.wording import plain
from aotloop.core.checklist import item_names
from aotloop.core.conduct import reports
from aotloop.core.context import Context
from aotloop.core.effects import StartAttempt
from aotloop.core.events import Child
from aotloop.core.model import Objective
from aotloop.runner.bills import Bill, bill_of
from aotloop.runner.checks import Found
from aotloop.runner.clock import now
from aotloop.runner.journal import Record, Report
from aotloop.runner.work import Kept, Label, Work

_LONGEST_TITLE = 72


class Job(msgspec.Struct, frozen=True, kw_only=True):
    start: StartAttempt
    context: Context
    run_id: str
    allowance: float | None = None
    """USD that it may cost; None: no limit."""
    found: Record | None = None
    """Somebody has done it before, and was not there any more to see it checked: that is all that is left to do."""
    may_go_on: bool = False
    """It may start from what an earlier attempt left."""
    most_in_vain: int = 2
    """Attempts in a row from there that get no further, before one starts clean."""

    @property
    def label(self) -> Label:
        atom = self.context.atom
        title = shorten(plain(f"{atom.id}: {atom.description}"), _LONGEST_TITLE, placeholder="…")
        return Label(atom=atom.id, attempt=self.start.attempt, run_id=self.run_id, title=title)


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What a failed attempt left, and what its check showed there."""

    work: Work
    found: Found
    start: Kept | None = None
    """From which it had started; None: it had started clean."""


class Made(msgspec.Struct, frozen=True, kw_only=True):
    report: reports.OfAttempt
    outcome: str
    summary: str = ""
    record: Record | None = None
    """Of whatever has to be told to the next run, if this one dies before the state file knows of it."""
    seconds: float = 0.0
    bill: Bill = Bill()
    retry_after: float = 0.0
    """Seconds, of what has to wait."""
    notes: tuple[str, ...] = ()
    left: Left | None = None
    """By one that failed, and worth another look."""


def failed(job: Job, outcome: str, reason: str, said: Outcome | None = None) -> Made:
    """`said`: what came of it, if the reason is the agent's own."""
    report = reports.WorkFailed(at=now(), attempt=job.start.attempt, reason=reason)
    if isinstance(said, contract.Failed):
        report = replace(report, because_of=said.because_of, wants_probe=said.wants_probe)
    return Made(report=report, outcome=outcome, summary=reason)


def waits(job: Job, reason: str, seconds: float) -> Made:
    report = reports.MustWait(at=now(), attempt=job.start.attempt, reason=reason)
    return Made(report=report, outcome="must_wait", summary=reason, retry_after=seconds)


def unavailable(job: Job, reason: str, told: str = "") -> Made:
    """In this run nobody can do it; the atom is not to blame."""
    report = reports.MustWait(at=now(), attempt=job.start.attempt, reason=reason, for_good=True)
    return Made(report=report, outcome="unavailable", summary=told or reason)


def kind_of(outcome: Outcome) -> str:
    return str(outcome.__struct_config__.tag)


def note_on_covers(children: tuple[Child, ...], objective: Objective) -> tuple[str, ...]:
    """What a proposal says it covers, and the base case does not have, is left out of it; at most one note."""
    items = set(item_names(objective.base_case))
    unknown = dict.fromkeys(one for child in children for one in child.covers if one not in items)
    return (f"the base case has no item {', '.join(map(repr, unknown))}: parts do not cover it",) if unknown else ()


def record_of(job: Job, outcome: Outcome, work: Work | None = None) -> Record:
    done = outcome if isinstance(outcome, contract.Done) else None
    return Record(
        run_id=job.run_id,
        epoch=job.start.epoch,
        atom=job.context.atom.id,
        attempt=job.start.attempt,
        outcome=kind_of(outcome),
        summary=done.summary if done is not None else "",
        artifacts=done.artifacts if done is not None else (),
        work=work,
        role=job.start.role,
        failures=job.context.atom.attempts,
        bill=bill_of(outcome),
    )


def told_by(record: Record, report: reports.OfAttempt | None) -> Record:
    """With what the run is told of it."""
    return replace(record, report=report if isinstance(report, Report) else None)
