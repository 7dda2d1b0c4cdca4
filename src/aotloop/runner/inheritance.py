"""What a run that died has left to this one is used once, when its turn comes: nobody is asked for it again.

A result that can be merged now is merged first of all. Everything else (failures, proposals, what a probe found, what
builds on a result that is not merged yet) answers the attempt that is asked for in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from aotloop.core import effects
from aotloop.core.checklist import check_of
from aotloop.core.conduct import Run, reports
from aotloop.core.model import Atom
from aotloop.runner import news
from aotloop.runner.clock import now
from aotloop.runner.journal import Record
from aotloop.runner.ledger import Exchanged
from aotloop.runner.records import Records
from aotloop.runner.recovery import Recovery


class Inheritance:
    def __init__(self, run: Run, records: Records, tell: Callable[[news.News], None]) -> None:
        self._run = run
        self._records = records
        self._tell = tell
        self._results: set[str] = set()
        """Atoms of which there is a result."""
        self._left: dict[tuple[str, str], Record] = {}
        """By atom and role."""

    def settle(self, recovery: Recovery, exchanged: Exchanged) -> reports.Report | None:
        """What earlier runs have cost is noted once, together with what comes of it."""
        self._results = {one.atom for one in recovery.found if one.work is not None}
        exchanged.afterwards.append(partial(self._records.settle, recovery.over))
        return None if recovery.bill.is_empty else reports.Told(at=now(), event=recovery.bill.event)

    def take_up(self, record: Record, exchanged: Exchanged) -> reports.Report | None:
        """A result that only has to be merged is conducted at once: this run will know it under its next number."""
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
        """What a probe found is true whenever somebody asks; a result, if all it builds on is going to be there."""
        if record.role == "probe":
            return True
        board = self._run.board
        is_known = record.atom in board.atoms and board.why_not_startable(record.atom) is None
        return is_known and self._results.issuperset(board.waits_for(record.atom))

    def answer(self, start: effects.StartAttempt, exchanged: Exchanged) -> reports.Report | None:
        """Instead of this attempt; None: somebody has to make it."""
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
        """What this attempt has come to already, and only has to be checked."""
        record = self._left.get((start.atom, start.role))
        if record is None or record.report is not None or record.epoch != start.epoch:
            return None
        return self._left.pop((start.atom, start.role))

    def _say(self, record: Record, exchanged: Exchanged) -> None:
        text = f"the result of attempt {record.attempt} was there already"
        exchanged.afterwards.append(partial(self._tell, news.Warned(at=now(), atom=record.atom, text=text)))

    def _is_to_merge(self, record: Record, atom: Atom) -> bool:
        """Merging looks whether a commit was checked; where there is none, nothing would."""
        work = record.work
        if work is None:
            return False
        is_unchecked = work.commit is None and not work.is_checked
        return not is_unchecked or check_of(atom, self._run.loop.objective.base_case) is None
