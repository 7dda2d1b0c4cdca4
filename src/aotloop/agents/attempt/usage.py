"""What an attempt used and cost: prices by token, estimates, and its own share of a longer conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import astuple, replace

from aotloop.agents.contract import Assignment, Outcome, Session, Tokens

_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD for a million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0


def cost_of(tokens: Tokens, price: Price) -> float:
    amounts: Iterator[float] = (getattr(tokens, kind) * getattr(price, kind) for kind in Tokens.__struct_fields__)
    return round(sum(amounts) / _MILLION, 6)


_FAMILIES: tuple[tuple[str, Price], ...] = (
    ("haiku", Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)),
    ("sonnet", Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)),
    ("opus", Price(input=15.0, output=75.0, cache_read=1.5, cache_write=18.75)),
    ("claude", Price(input=15.0, output=75.0, cache_read=1.5, cache_write=18.75)),
)
"""List prices of models. An unknown model counts as the dearest of its family: too low an estimate would let a run
spend without end. A `price` in the settings comes first.
"""


def estimated_cost(model: str, tokens: Tokens | None) -> float | None:
    """USD, for an attempt that ended before its client could tell; None: nothing was counted."""
    if tokens is None:
        return None
    price = next((price for family, price in _FAMILIES if family in model), _FAMILIES[-1][1])
    return cost_of(tokens, price)


Number = TypeVar("Number", int, float)


def own_share(outcome: Outcome, assignment: Assignment, session: str | None) -> Outcome:
    """Replaces the counts of the whole conversation in `outcome` by the attempt's own, and adds the session.

    `session`: the client's name of the conversation; None if it reported none.
    """
    sitting = assignment.sitting
    if sitting is None:
        return outcome
    kept = None
    if session is not None:
        kept = Session(id=session, tokens=outcome.tokens, cost_usd=outcome.cost_usd, turns=outcome.turns)
    before = sitting.session
    if before is None:
        return replace(outcome, session=kept)
    return replace(
        outcome,
        session=kept,
        tokens=tokens_since(before.tokens, outcome.tokens),
        cost_usd=_since(before.cost_usd, outcome.cost_usd),
        turns=_since(before.turns, outcome.turns),
    )


def highest(first: Tokens, second: Tokens) -> Tokens:
    """The larger number of each kind: counters of a stream only grow, and a later report may leave some out."""
    pairs = zip(Tokens.__struct_fields__, astuple(first), astuple(second), strict=True)
    return Tokens(**{kind: max(first, second) for kind, first, second in pairs})


def total(some: Iterable[Tokens]) -> Tokens:
    used = list(some)
    return Tokens(**{kind: sum(getattr(tokens, kind) for tokens in used) for kind in Tokens.__struct_fields__})


def tokens_since(before: Tokens | None, now: Tokens | None) -> Tokens | None:
    """If a client counts less than before, it has begun a new count."""
    if before is None or now is None:
        return now
    fields = zip(astuple(now), astuple(before), strict=True)
    rest = [after - earlier for after, earlier in fields]
    return now if min(rest) < 0 else Tokens(**dict(zip(Tokens.__struct_fields__, rest, strict=True)))


def _since(before: Number | None, now: Number | None) -> Number | None:
    return now if before is None or now is None or now < before else now - before
