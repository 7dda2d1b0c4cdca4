"""What an attempt cost where the client counts tokens but no money: by the prices a person has written down."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.agents.contract import Tokens

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
