"""The budget of tasks and judges: what they may cost and did cost. One budget for all: no amount is given twice.

The rest of the money is lent in shares. A share counts as spent until it is released, or settled to the real cost. So
together they cost no more than is allowed, if each client stops at its amount.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import floor

import msgspec
from msgspec.structs import replace

from aotloop.agents.attempt.usage import Price, cost_of
from aotloop.agents.contract import Outcome
from aotloop.core.events import Spent
from aotloop.core.model import Used
from aotloop.core.policy.progress import together

_PARTS = 10_000
"""Of a dollar: a smaller amount counts as zero."""

_GLANCE = 0.1
"""Seconds after which a judge that waits for money checks whether it was cancelled."""


class Budget:
    """The budget of one run, used from several threads."""

    def __init__(self, left: Callable[[], float | None] = lambda: None, most: float | None = None) -> None:
        """`left`: USD that the run may still spend, as its loop knows; None: no limit. `most`: for one share."""
        self._left = left
        self._most = most
        self._shares: dict[object, float] = {}
        """Money that tasks may be spending now."""
        self._charges: dict[object, float] = {}
        """Money that was spent, but is not yet in the loop."""
        self._changed = threading.Condition()

    def reserve(self, key: object, among: int = 1) -> float | None:
        """A share for this task, which begins `among` so many. None: no limit."""
        with self._changed:
            return self._reserve(key, among)

    def settle(self, key: object, usd: float) -> None:
        """The task has ended with this cost, which counts until `release`. The rest of its share is free."""
        with self._changed:
            if self._shares.pop(key, None) is not None:
                self._charges[key] = usd
                self._changed.notify_all()

    def charge(self, usd: float) -> object:
        """Money that was spent outside of a share. It counts until the returned key is released."""
        key = object()
        with self._changed:
            self._charges[key] = usd
        return key

    def release(self, key: object) -> None:
        """The task spends no more, and its cost is in the loop."""
        with self._changed:
            self._shares.pop(key, None)
            self._charges.pop(key, None)
            self._changed.notify_all()

    @contextmanager
    def share_for_judge(self, is_cancelled: Callable[[], bool]) -> Iterator[float | None]:
        """As much as each running task could get. If they have all the money, it waits for one of them."""
        key = object()
        with self._changed:
            share = self._reserve(key, 1 + self._under_way())
            while share is not None and share <= 0 and self._under_way() and not is_cancelled():
                self._changed.wait(_GLANCE)
                share = self._reserve(key, 1 + self._under_way())
        try:
            yield share
        finally:
            self.release(key)

    def _under_way(self) -> int:
        return sum(share > 0 for share in self._shares.values())

    def _reserve(self, key: object, among: int) -> float | None:
        left = self._left()
        if left is None:
            return self._most
        free = left - sum(self._shares.values()) - sum(self._charges.values())
        share = max(free, 0.0) / max(among, 1)
        self._shares[key] = floor(min(share, self._most or share) * _PARTS) / _PARTS
        return self._shares[key]


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    usd: float | None = None
    """None: the cost is unknown."""
    used: Used = Used()

    @property
    def is_empty(self) -> bool:
        return not self.usd and self.used == Used()

    @property
    def event(self) -> Spent:
        return Spent(usd=self.usd or 0.0, used=self.used)


def priced(outcome: Outcome, price: Price | None) -> Outcome:
    """Adds the cost, if the client counts only tokens and a person has configured their price."""
    if price is None or outcome.cost_usd is not None or outcome.tokens is None:
        return outcome
    return replace(outcome, cost_usd=cost_of(outcome.tokens, price))


def bill_of(outcome: Outcome) -> Bill:
    tokens, turns = outcome.tokens, outcome.turns or 0
    counts = {kind: getattr(tokens, kind) for kind in tokens.__struct_fields__} if tokens is not None else {}
    usd = outcome.cost_usd if outcome.cost_usd is None else max(outcome.cost_usd, 0.0)
    return Bill(usd=usd, used=Used(**counts, turns=turns))


def sum_of(bills: Iterable[Bill]) -> Bill:
    bills = tuple(bills)
    return Bill(usd=sum(bill.usd or 0.0 for bill in bills), used=together(bill.used for bill in bills))
