"""What a run may take at most, said before it starts: attempts, and money as far as that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aotloop.core.graph import Graph
from aotloop.core.limits import Limits, limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Control, Loop


def allowance_in_words(loop: Loop, overriding: Mapping[str, Any]) -> str:
    """`overriding`: limits that hold for this run instead of the file's."""
    limits = limits_of(replace(loop.objective.constraints, **overriding))
    attempts, each = attempts_left(loop, limits), usd_each(loop.control)
    said = f"at most {attempts:,} attempt{'' if attempts == 1 else 's'}{_money(loop, limits)}"
    return said if each is None or not attempts else f"{said}; about ${each:,.2f} each so far, {_reach(loop, limits)}"


def usd_each(control: Control) -> float | None:
    """What an attempt of this loop has cost on average; None: nobody knows, or they cost nothing."""
    prices = control.prices
    if prices.attempts and prices.attempts_usd:
        return prices.attempts_usd / prices.attempts
    return control.cost_usd / control.tried if control.tried and control.cost_usd else None


def _money(loop: Loop, limits: Limits) -> str:
    if limits.max_cost_usd is None:
        return ", with no limit of cost (--max-cost sets one)" if _asks_agents(loop) else ""
    spent = loop.control.cost_usd
    already = f" (${spent:,.2f} of ${limits.max_cost_usd:,.2f} are spent)" if spent else ""
    return f", and at most ${_left(loop, limits):,.2f}{already}"


def _reach(loop: Loop, limits: Limits) -> str:
    """How far the money goes."""
    attempts, each = attempts_left(loop, limits), usd_each(loop.control) or 0.0
    if limits.max_cost_usd is not None and attempts * each > (left := _left(loop, limits)):
        return f"so the money is enough for about {int(left / each):,}"
    return f"so at most about ${attempts * each:,.2f}"


def _left(loop: Loop, limits: Limits) -> float:
    return max((limits.max_cost_usd or 0.0) - loop.control.cost_usd, 0.0)


def _asks_agents(loop: Loop) -> bool:
    """Commands cost nothing."""
    graph = Graph(loop)
    return any(graph.atoms[one].run is None for one in graph.unresolved())
