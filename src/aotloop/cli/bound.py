"""How many attempts can still be made, at most: in words for a person, and in numbers for a program."""

from __future__ import annotations

from math import ceil, log10
from typing import Any

import msgspec

from aotloop.core.graph import Graph
from aotloop.core.measure import Measure
from aotloop.core.model import Loop

LONGEST_FIGURE = 6
"""Digits. Larger numbers are told by their power of ten."""

LARGEST_EXACT = 2**53
"""In JSON: above it, many a reader would round, and some would fail."""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    attempts: int
    """If no atom is decomposed from now on."""
    grown: int | None = None
    """If every atom is decomposed as far as the limits allow; None where that is too large to be worked out."""
    growth_magnitude: float | None = None
    """The power of ten of the same; None if no attempt at all will be made."""


def bound_of(loop: Loop, graph: Graph | None = None) -> Bound:
    if loop.control.status == "completed":
        return Bound(attempts=0, grown=0)
    graph = graph if graph is not None else Graph(loop)
    growing = Measure(loop, graph)
    magnitude = growing.magnitude()
    return Bound(
        attempts=Measure(loop, graph, growth=False).attempts_left,
        grown=growing.attempts_left if magnitude <= LONGEST_FIGURE else None,
        growth_magnitude=magnitude,
    )


def bound_in_words(bound: Bound, growth: str = "as far as max_depth and max_children allow") -> str:
    """`growth`: what is said of how far atoms are decomposed; it may be nothing."""
    told = f"no more than {_figure(bound.attempts)} attempt{'' if bound.attempts == 1 else 's'}"
    if bound.growth_magnitude is None or bound.grown == bound.attempts:
        return told
    grown = f"{bound.grown:,}" if bound.grown is not None else f"about 10^{ceil(bound.growth_magnitude)}"
    return f"{told} ({' '.join(filter(None, (grown, 'if every atom is decomposed', growth)))})"


def _figure(number: int) -> str:
    return f"{number:,}" if number < 10**LONGEST_FIGURE else f"about 10^{ceil(log10(number))}"


def bound_as_data(bound: Bound) -> dict[str, Any]:
    """A number too large for JSON is None; its power of ten is there in any case."""
    return {
        "attempts_left_at_most": bound.attempts if bound.attempts <= LARGEST_EXACT else None,
        "attempts_left_magnitude": round(log10(bound.attempts), 3) if bound.attempts else None,
        "growth_magnitude": round(bound.growth_magnitude, 3) if bound.growth_magnitude is not None else None,
    }
