"""Rows: the result of a measurement as a cell, and the table as cells of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from bench.peers.contenders import OURS


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One contender at one work."""

    group: str
    work: str
    contender: str
    unit: str
    version: str = ""
    value: float | None = None
    """The median over the rounds; None: it was not measured."""
    rounds: int = 0
    note: str = ""
    """Why it was not measured, or what else has to be known."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    cores: int
    python: str
    system: str
    filesystem: str
    load: float
    """How many processes wanted a core in the minute before: more than the cores, and times say little."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    machine: Machine
    rows: tuple[Row, ...]

    def groups(self) -> list[str]:
        return list(dict.fromkeys(row.group for row in self.rows))

    def of_group(self, group: str) -> list[Row]:
        return [row for row in self.rows if row.group == group]


def measured(taken: Sequence[float], **facts: str) -> Row:
    return msgspec.convert({**facts, "value": median(taken), "rounds": len(taken)}, Row)


def missing(why: object, **facts: str) -> Row:
    return msgspec.convert({**facts, "note": f"not measured: {why}"}, Row)


def ratio(row: Row, rows: Sequence[Row]) -> float | None:
    """How much of it a contender takes, for each of ours; None if one of them is not known."""
    ours = next((one.value for one in rows if one.contender == OURS and one.work == row.work), None)
    return row.value / ours if row.value is not None and ours else None
