"""Records of attempts on disk: the work, its cost, and the start of the next attempt.

Runs of earlier versions wrote these too: a field may be added with a default, and none may change its meaning.
"""

from __future__ import annotations

from math import isfinite

import msgspec

from aotloop.core.effects import Role
from aotloop.core.scheduler import reports
from aotloop.execution.budget import Bill

_MOST_USD = 100_000.0

Report = reports.WorkDone | reports.WorkFailed | reports.ChildrenProposed | reports.ProbeReturned


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt changed, kept outside of its folder. `commit` None: there is nothing to merge."""

    commit: str | None = None
    base: str | None = None
    is_checked: bool = False
    attempt: int = 0
    """The number under which it was made. A later run may merge it under another number."""
    left_out: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Changed files that programs of the person obey, outside of any fence."""


class CheckedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of an atom's check, as it was found at the files of an attempt. `passed` None: undecided."""

    name: str
    passed: bool | None
    evidence: str = ""
    """What was found, with the end of the output."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """Where the next attempt at the same task starts after a failure. `commit` None: it starts clean."""

    commit: str | None = None
    attempt: int = 0
    """The attempt that left it, which is not always the last one."""
    held: tuple[str, ...] = ()
    """Parts of the check that held."""
    failing: dict[str, str] = {}
    """Part of the check → evidence, shortened."""
    in_vain: int = 0
    """Attempts in a row that started from it and got no further."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an attempt. It is on disk before the run acts on it."""

    run_id: str
    epoch: int
    atom: str
    """The name of the task: an atom, or a phase."""
    attempt: int
    outcome: str
    summary: str = ""
    artifacts: tuple[str, ...] = ()
    work: Work | None = None
    role: Role = "worker"
    report: Report | None = None
    """The report to the run; None: no report, if this run died now."""
    failures: int = 0
    """Failures of the task before this one, in this turn."""
    bill: Bill = Bill()
    is_accounted: bool = False
    """The cost is in the state file."""
    kept: Kept | None = None
    """After a failure: where the next attempt starts; None: unknown."""


def doubted(record: Record) -> Record:
    """A record without our code: of the version before, or of an agent. It reports nothing and proves nothing.

    Recovery looks for its work in the repository. Its bill counts: a lost bill is worse than a wrong one.
    """
    usd = record.bill.usd
    is_a_bill = usd is None or (isfinite(usd) and 0 <= usd <= _MOST_USD)
    work = msgspec.structs.replace(record.work, is_checked=False) if record.work is not None else None
    report = record.report if work is not None and isinstance(record.report, reports.WorkDone) else None
    return msgspec.structs.replace(record, work=work, report=report, bill=record.bill if is_a_bill else Bill())
