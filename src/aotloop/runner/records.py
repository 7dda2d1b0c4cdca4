"""Results that are done and not merged, by the number under which the run knows them, in memory and in the journal."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from aotloop.runner.journal import Journal, Record
from aotloop.runner.work import Kept, Work


class Records:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._records: dict[int, Record] = {}

    def put(self, number: int, record: Record) -> None:
        self._records[number] = record

    def to_merge(self, number: int) -> Work | None:
        """None: it changed no file, so there is nothing to merge."""
        record = self._records.get(number)
        return record.work if record is not None and record.work is not None and record.work.commit else None

    def note(self, number: int, kept: Kept) -> None:
        """It is not merged; where the next attempt starts is in its record from now on."""
        record = self._records.get(number)
        if record is not None:
            self._records[number] = replace(record, kept=kept)
            self._journal.keep(self._records[number])

    def use(self, number: int) -> None:
        """Something was made of it, or it was given up: no later run takes it up."""
        record = self._records.pop(number, None)
        if record is not None:
            self._journal.use(record)

    def settle(self, records: Iterable[Record]) -> None:
        """Of earlier runs: the state file knows what they cost, and that was all."""
        for record in records:
            self._journal.use(record)

    def put_off(self, record: Record) -> None:
        """Of an earlier run: the state file knows what it cost; what came of it is used later."""
        if not record.is_accounted and not record.bill.is_empty:
            self._journal.keep(replace(record, is_accounted=True))

    def account(self, number: int) -> None:
        """The state file knows what it cost. If nothing else is to be made of it, that was all."""
        record = self._records.get(number)
        if record is None or record.work is None:
            self.use(number)
        else:
            self._records[number] = replace(record, is_accounted=True)
            self._journal.keep(self._records[number])
