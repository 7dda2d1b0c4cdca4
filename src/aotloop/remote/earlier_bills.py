"""What earlier runs have counted of an attempt that this run takes over: only the rest is new.

A run that is killed leaves the last sum it heard in the folder of its attempt. The next run counts that when it begins.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Tokens
from aotloop.execution.journals.journal import METER, RECORD, USED
from aotloop.execution.journals.records import Record
from aotloop.foreign_files import read_foreign
from aotloop.remote.whereabouts import Whereabouts, all_whereabouts, folders_of
from aotloop.remote.wire import AttemptResult

_LARGEST = 10_000_000
_KINDS = Tokens.__struct_fields__


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    cost_usd: float = 0.0
    tokens: Tokens = Tokens()

    def __add__(self, other: Counted) -> Counted:
        sums = {kind: getattr(self.tokens, kind) + getattr(other.tokens, kind) for kind in _KINDS}
        return Counted(cost_usd=self.cost_usd + other.cost_usd, tokens=Tokens(**sums))

    def rest(self, tokens: Tokens | None, cost_usd: float | None) -> tuple[Tokens | None, float | None]:
        if tokens is not None:
            left = {kind: max(getattr(tokens, kind) - getattr(self.tokens, kind), 0) for kind in _KINDS}
            tokens = Tokens(**left)
        return tokens, None if cost_usd is None else max(cost_usd - self.cost_usd, 0.0)

    def rest_of(self, result: AttemptResult) -> AttemptResult:
        tokens, cost = self.rest(result.tokens, result.cost_usd)
        outcome = result.outcome
        if outcome is not None:
            its_tokens, its_cost = self.rest(outcome.tokens, outcome.cost_usd)
            outcome = replace(outcome, tokens=its_tokens, cost_usd=its_cost)
        return replace(result, outcome=outcome, tokens=tokens, cost_usd=cost)


def still_wanted(attempts: Path) -> list[Whereabouts]:
    """Attempts that a runner that died had sent, and whose results are not on disk here: one for each activity."""
    found = all_whereabouts(attempts)
    ended = {activity.id for name, activity in found.items() if _has_ended(attempts / name)}
    return list({activity.id: activity for activity in found.values() if activity.id not in ended}.values())


def counted_before(attempts: Path, activity: str) -> Counted:
    """What earlier runs have counted of it."""
    return sum((_counted_in(attempts / name) for name in folders_of(attempts, activity)), Counted())


def _counted_in(folder: Path) -> Counted:
    """By the folder of an attempt whose run was killed."""
    record = _left_by_kill(folder)
    if record is None:
        return Counted()
    tokens = Tokens(**{kind: getattr(record.bill.used, kind) for kind in _KINDS})
    return Counted(cost_usd=record.bill.usd or 0.0, tokens=tokens)


def _has_ended(folder: Path) -> bool:
    """Whether its result is on disk here, or was. A bill alone is none: its run was killed."""
    if (folder / RECORD).exists():
        return True
    return (folder / USED).exists() and _left_by_kill(folder) is None


def _left_by_kill(folder: Path) -> Record | None:
    for name in (USED, METER):
        with suppress(OSError, msgspec.MsgspecError, RecursionError):
            record = msgspec.json.decode(read_foreign(folder / name, _LARGEST), type=Record)
            return record if record.outcome == "cancelled" and record.report is None else None
    return None
