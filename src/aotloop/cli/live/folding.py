"""Which rows are shown if there are more than fit: the most interesting, each with what it stands under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aotloop.cli.live.outline import Row

MOST_ABOVE = 4
"""Rows that are shown only because something stands under them: what is nested deeper is worth more than its way."""

MOST_REFUSALS = 20
"""In a row. Then it is as full as it gets, or nearly."""


def kept(rows: list[Row], interesting: Iterable[int], room: int, heights: Mapping[int, int]) -> list[int]:
    """Numbers of the rows to show, in order. `heights`: of rows that take more than one line."""
    shown: set[int] = set()
    refusals = 0
    for number in interesting:
        fresh = _with_what_is_above(rows, number, shown)
        lines = sum(heights.get(one, 1) for one in fresh)
        if lines <= room:
            shown.update(fresh)
            room -= lines
            refusals = 0
        else:
            refusals += 1
        if not room or refusals >= MOST_REFUSALS:
            break
    return sorted(shown)


def _with_what_is_above(rows: list[Row], number: int, shown: set[int]) -> list[int]:
    chain: list[int] = []
    while number >= 0 and number not in shown and len(chain) <= MOST_ABOVE:
        chain.append(number)
        number = rows[number].above
    return chain
