"""Amounts for people: what was spent, in money, tokens and turns; unknown amounts are left out."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.model import Used
from aotloop.core.policy.progress import tokens_of
from aotloop.text.phrases import counted, dollars

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def spending(usd: float, used: Used, most: float | None = None) -> Iterator[str]:
    """`most`: the limit of cost."""
    if usd or most is not None:
        yield dollars(usd) + (f" of {dollars(most)}" if most is not None else "")
    if tokens := tokens_of(used):
        yield f"{_short(tokens)} tokens"
    if used.turns:
        yield counted(used.turns, "turn")


def _short(count: int) -> str:
    for unit, letter in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f}{letter}"
    return str(count)
