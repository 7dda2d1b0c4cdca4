"""The result of an attempt: the report to the run, the bill, the record, and the start of the next attempt."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.agents import contract
from aotloop.agents.contract import Outcome
from aotloop.clock import now
from aotloop.core.events import Child
from aotloop.core.scheduler import reports
from aotloop.execution.availability import CRASHING
from aotloop.execution.budget import Bill, bill_of
from aotloop.execution.journals.records import CheckedPart, Kept, Record, Report, Work
from aotloop.execution.task import Task
from aotloop.execution.verification import Found


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a failed attempt, and what its check found there."""

    work: Work
    found: Found
    start: Kept | None = None
    """The commit where it had started; None: it had started clean."""


class Made(msgspec.Struct, frozen=True, kw_only=True):
    report: reports.OfAttempt
    outcome: str
    summary: str = ""
    record: Record | None = None
    """The record for the next run, if this one dies before the state file has the result."""
    seconds: float = 0.0
    bill: Bill = Bill()
    retry_after: float = 0.0
    """Seconds to wait."""
    notes: tuple[str, ...] = ()
    left: Left | None = None
    """The work of a failed attempt that may be useful."""
    checks: tuple[CheckedPart, ...] = ()
    """What the check found; empty: it was not checked."""


class Interrupted(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that was cancelled: no result, but a bill."""

    record: Record
    seconds: float = 0.0


def failed(task: Task, outcome: str, reason: str, ended: Outcome | None = None) -> Made:
    """`ended`: the outcome, if the reason is the agent's own."""
    report = reports.WorkFailed(at=now(), attempt=task.number, reason=reason)
    if isinstance(ended, contract.Failed):
        report = replace(report, because_of=ended.because_of, wants_probe=ended.wants_probe)
    return Made(report=report, outcome=outcome, summary=reason)


def waits(task: Task, reason: str, seconds: float) -> Made:
    report = reports.MustWait(at=now(), attempt=task.number, reason=reason)
    return Made(report=report, outcome="must_wait", summary=reason, retry_after=seconds)


def unavailable(task: Task, reason: str, detail: str = "") -> Made:
    """No agent can do it in this run; the atom is not the cause."""
    of_all = reason.startswith(CRASHING)
    report = reports.MustWait(at=now(), attempt=task.number, reason=reason, for_good=True, of_all=of_all)
    return Made(report=report, outcome="unavailable", summary=detail or reason)


def without_agent(task: Task) -> Made:
    """No agent is configured that plays the role. A probe that cannot be made says nothing against the atom."""
    if task.role != "probe":
        return unavailable(task, "there is no agent to do it: --agent names one, or `agent` in aot.toml")
    words = "nothing was looked at: no agent that is configured plays the role of a probe"
    report = reports.ProbeReturned(at=now(), attempt=task.number, feasible=True, findings=words)
    return Made(report=report, outcome="probed", summary=words, notes=(words,))


def kind_of(outcome: Outcome) -> str:
    return str(outcome.__struct_config__.tag)


def note_on_covers(children: tuple[Child, ...], task: Task) -> tuple[str, ...]:
    """Items that a proposal covers and the base case does not have are left out, with at most one note."""
    items = set(task.items)
    unknown = dict.fromkeys(item for child in children for item in child.covers if item not in items)
    return (f"the base case has no item {', '.join(map(repr, unknown))}: parts do not cover it",) if unknown else ()


def record_of(task: Task, outcome: Outcome, work: Work | None = None) -> Record:
    done = outcome if isinstance(outcome, contract.Done) else None
    return Record(
        run_id=task.run_id,
        epoch=task.epoch,
        atom=task.name,
        attempt=task.number,
        outcome=kind_of(outcome),
        summary=done.summary if done is not None else "",
        artifacts=done.artifacts if done is not None else (),
        work=work,
        role=task.role,
        failures=task.failures_in_turn,
        bill=bill_of(outcome),
    )


def told_by(record: Record, report: reports.OfAttempt | None) -> Record:
    """Adds the event that observers of the run receive."""
    return replace(record, report=report if isinstance(report, Report) else None)
