"""What was spent, in words: money, tokens, turns; nothing of what nobody counted."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.cli.output import counted
from aotloop.core.model import Used
from aotloop.core.usage import tokens_of

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def spending(usd: float, used: Used, most: float | None = None) -> Iterator[str]:
    """`most`: what may be spent."""
    if usd or most is not None:
        yield f"${usd:,.2f}" + (f" of ${most:,.2f}" if most is not None else "")
    if tokens := tokens_of(used):
        yield f"{_short(tokens)} tokens"
    if used.turns:
        yield counted(used.turns, "turn")


def _short(count: int) -> str:
    for unit, letter in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f}{letter}"
    return str(count)
