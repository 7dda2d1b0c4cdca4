"""Crash recovery: a dead or stopped run leaves results to use, changes to revert, and used numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import msgspec
from msgspec.structs import replace

from aotloop.clock import now
from aotloop.core import effects
from aotloop.core.checks.checklist import check_of
from aotloop.core.model import Atom, Loop
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.reports import ProbeReturned
from aotloop.core.scheduler.run_state import Run
from aotloop.execution import run_events
from aotloop.execution.attempts.attempt_names import AttemptNames
from aotloop.execution.budget import Bill, sum_of
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.protection import NOTHING, Protection
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.records import Kept, Record, Work
from aotloop.execution.journals.run_time import RunTime
from aotloop.runner.ledger import Exchanged


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    found: tuple[Record, ...] = ()
    """Attempts that had ended, in this epoch, with results that are not used yet."""
    over: tuple[Record, ...] = ()
    """Results that will not be used: they were used just before the run died, or were given up since."""
    given_up: tuple[str, ...] = ()
    """Atoms, some of them removed, whose work is still on the branch though it should not be."""
    bill: Bill = Bill()
    """The cost of finished attempts that is not in the state file."""
    first_attempt: int = 1
    seconds: float = 0.0
    """Time of a killed run that is not in the state file."""


def recovery_of(
    loop: Loop, run_id: str, journal: Journal, branch: Branch | None, protection: Protection = NOTHING
) -> Recovery:
    """Call this before the loop starts: atoms in progress were in progress when the run died."""
    records = journal.records(run_id)
    atoms = {atom.id: atom for atom in loop.atoms}
    latest = {record.atom: record for record in records}
    found = [
        record
        for record in latest.values()
        if (record.work is not None or record.report is not None)
        and record.epoch == loop.control.epoch
        and record.atom in atoms
        and not _is_known(loop, atoms[record.atom], record)
        and _is_there(record, branch, protection)
    ]
    taken_up = {record.atom for record in found if record.work is not None}
    standing = branch.atoms_on_it(run_id) if branch is not None else []
    return Recovery(
        found=tuple(map(_to_check_again, found)),
        over=tuple(record for record in records if record not in found),
        given_up=tuple(
            name
            for name in standing
            if name not in taken_up and (name not in atoms or atoms[name].status != "resolved")
        ),
        bill=sum_of(record.bill for record in records if not record.is_accounted),
        seconds=RunTime(journal.root).missing(run_id, loop.control.ran_seconds),
        first_attempt=1 + max(journal.last_attempt(), branch.last_attempt(run_id) if branch is not None else 0),
    )


def _is_known(loop: Loop, atom: Atom, record: Record) -> bool:
    """Whether the file has its result already: the run died just before it could note that."""
    if atom.status == "resolved" or record.work is not None or record.report is None:
        return atom.status == "resolved"
    if any(split.parent == atom.id for split in loop.decompositions):
        return True
    if isinstance(record.report, ProbeReturned) and atom.findings is not None:
        return True
    failure = ("failure", atom.id, record.report.at, record.failures + 1)
    return failure in {(entry.type, entry.atom, entry.timestamp, entry.attempt) for entry in loop.trail}


def _is_there(record: Record, branch: Branch | None, protection: Protection) -> bool:
    """Whether the repository has this work as this attempt's own, and it changes no protected path."""
    commit = record.work.commit if record.work is not None else None
    if commit is None:
        return True
    if branch is None:
        return False
    paths = branch.paths_of(commit, atom=record.atom, attempt=record.attempt, run_id=record.run_id)
    return paths is not None and not branch.refused(paths, protection)


def _to_check_again(record: Record) -> Record:
    """Its check runs again: the files that were checked may have been others."""
    return replace(record, work=replace(record.work, is_checked=False)) if record.work is not None else record


class Inheritance:
    def __init__(
        self, run: Run, records: UnmergedResults, names: AttemptNames, tell: Callable[[run_events.RunEvent], None]
    ) -> None:
        self._run = run
        self._names = names
        self._records = records
        self._tell = tell
        self._results: set[str] = set()
        """Atoms that have a result."""
        self._left: dict[tuple[str, str], Record] = {}
        """By atom and role."""

    def settle(self, recovery: Recovery, exchanged: Exchanged) -> reports.Report | None:
        """The cost and the time of earlier runs are counted once, the cost together with its result."""
        self._results = {record.atom for record in recovery.found if record.work is not None}
        exchanged.afterwards.append(partial(self._records.settle, recovery.over))
        if recovery.bill.is_empty and not recovery.seconds:
            return None
        return reports.Happened(at=now(), event=replace(recovery.bill.event, seconds=recovery.seconds))

    def take_up(self, record: Record, exchanged: Exchanged) -> reports.Report | None:
        """A result that only has to be merged is reported at once: this run knows it under its next number."""
        atom = self._run.board.atoms.get(record.atom)
        is_ready = atom is not None and self._run.board.why_not_ready(record.atom) is None
        if atom is not None and is_ready and self._is_to_merge(record, atom):
            number = self._run.next_number
            self._records.put(number, record)
            if not record.bill.is_empty and not record.is_accounted:
                exchanged.afterwards.append(partial(self._records.account, number))
            self._say(record, exchanged)
            return reports.ResultFound(at=now(), atom=record.atom, summary=record.summary, artifacts=record.artifacts)
        if is_ready or self._will_be_wanted(record):
            self._left[record.atom, record.role] = replace(record, is_accounted=True)
            exchanged.afterwards.append(partial(self._records.put_off, record))
            return None
        exchanged.afterwards.append(partial(self._records.settle, [record]))
        if record.work is not None:
            self._run.to_revert.append(record.atom)  # in case it had landed
        return None

    def _will_be_wanted(self, record: Record) -> bool:
        """A probe's result is always valid; another result is wanted if all results that it builds on will be there."""
        if record.role == "probe":
            return True
        board = self._run.board
        is_known = record.atom in board.atoms and board.why_not_startable(record.atom) is None
        return is_known and self._results.issuperset(board.waits_for(record.atom))

    def answer(self, start: effects.StartAttempt, exchanged: Exchanged) -> reports.Report | None:
        """The result for this attempt; None: an agent has to make it."""
        record = self._left.get((start.atom, start.role))
        if record is None or record.report is None or record.epoch != start.epoch:
            return None
        del self._left[start.atom, start.role]
        self._records.put(start.attempt, record)
        self._say(record, exchanged)
        if not isinstance(record.report, reports.WorkDone):
            exchanged.afterwards.append(partial(self._records.use, start.attempt))
        return replace(record.report, attempt=start.attempt, at=now())

    def unchecked(self, start: effects.StartAttempt) -> Record | None:
        """The result of this attempt that only has to be checked."""
        record = self._left.get((start.atom, start.role))
        if record is None or record.report is not None or record.epoch != start.epoch:
            return None
        return self._left.pop((start.atom, start.role))

    def _say(self, record: Record, exchanged: Exchanged) -> None:
        text = f"the result of {self._names.of(record.atom, record.attempt)} was there already"
        exchanged.afterwards.append(partial(self._tell, run_events.Warned(at=now(), atom=record.atom, text=text)))

    def _is_to_merge(self, record: Record, atom: Atom) -> bool:
        """The merge checks a commit; a result without a commit would not be checked."""
        work = record.work
        if work is None:
            return False
        is_unchecked = work.commit is None and not work.is_checked
        return not is_unchecked or check_of(atom, self._run.loop.objective.base_case) is None


class UnmergedResults:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._records: dict[int, Record] = {}

    def put(self, number: int, record: Record) -> None:
        self._records[number] = record

    def number_before(self, number: int) -> int:
        """The number under which the attempt was made."""
        record = self._records.get(number)
        return record.attempt if record is not None else number

    def to_merge(self, number: int) -> Work | None:
        """None: it changed no file, so there is nothing to merge."""
        record = self._records.get(number)
        return record.work if record is not None and record.work is not None and record.work.commit else None

    def note(self, number: int, kept: Kept) -> None:
        """It is not merged; from now on its record says where the next attempt starts."""
        record = self._records.get(number)
        if record is not None:
            self._records[number] = replace(record, kept=kept)
            self._journal.keep(self._records[number])

    def use(self, number: int) -> None:
        """The result was used, or given up: no later run takes it up."""
        record = self._records.pop(number, None)
        if record is not None:
            self._journal.use(record)

    def settle(self, records: Iterable[Record]) -> None:
        """For earlier runs: their cost is in the state file, and nothing else remains."""
        for record in records:
            self._journal.use(record)

    def put_off(self, record: Record) -> None:
        """For an earlier run: its cost is in the state file; its result is used later."""
        if not record.is_accounted and not record.bill.is_empty:
            self._journal.keep(replace(record, is_accounted=True))

    def account(self, number: int) -> None:
        """Its cost is in the state file. If its result is not needed, nothing else remains."""
        record = self._records.get(number)
        if record is None or record.work is None:
            self.use(number)
        else:
            self._records[number] = replace(record, is_accounted=True)
            self._journal.keep(self._records[number])
