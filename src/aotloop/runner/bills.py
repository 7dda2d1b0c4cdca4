"""What an attempt, or a judgement, cost and used; it is told once, to the state file, whatever came of it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Outcome
from aotloop.agents.prices import Price, cost_of
from aotloop.core.events import Spent
from aotloop.core.model import Used
from aotloop.core.usage import together


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    usd: float | None = None
    """None: nobody can tell."""
    used: Used = Used()

    @property
    def is_empty(self) -> bool:
        return not self.usd and self.used == Used()

    @property
    def event(self) -> Spent:
        return Spent(usd=self.usd or 0.0, used=self.used)


def priced(outcome: Outcome, price: Price | None) -> Outcome:
    """With what it cost, where the client counts tokens only and a person has told their price."""
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
    return Bill(usd=sum(one.usd or 0.0 for one in bills), used=together(one.used for one in bills))
