"""Results that are done and not merged, by the number under which the run knows them, in memory and in the journal."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.runner.journal import Journal, Record
from aotloop.runner.work import Work


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

    def use(self, number: int) -> None:
        """Something was made of it, or it was given up: no later run takes it up."""
        self.mark(number, state="used")
        self._records.pop(number, None)

    def mark(self, number: int, **marks: Any) -> None:
        record = self._records.get(number)
        if record is not None:
            self._records[number] = replace(record, **marks)
            self._journal.keep(self._records[number])
