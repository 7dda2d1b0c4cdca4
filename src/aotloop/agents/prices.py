"""List prices of models, to estimate what an attempt cost that was ended before its client could tell.

An estimate that is too high ends a run early; one that is missing lets it spend without end. So an unknown model of a
known family counts as the dearest of that family. A `price` in the settings comes first.
"""

from __future__ import annotations

from aotloop.agents.contract import Tokens
from aotloop.agents.usage import Price, cost_of

_FAMILIES: tuple[tuple[str, Price], ...] = (
    ("haiku", Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)),
    ("sonnet", Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)),
    ("opus", Price(input=15.0, output=75.0, cache_read=1.5, cache_write=18.75)),
    ("claude", Price(input=15.0, output=75.0, cache_read=1.5, cache_write=18.75)),
)


def estimate(model: str, tokens: Tokens | None) -> float | None:
    """USD; None: nothing was counted. A model without a known family counts as the dearest one."""
    if tokens is None:
        return None
    price = next((price for family, price in _FAMILIES if family in model), _FAMILIES[-1][1])
    return cost_of(tokens, price)
