"""Describes what a loop may still spend, and what its attempts have cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import Limits, limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Control, Loop
from aotloop.text.phrases import counted, dollars, lasting


def bound_of(loop: Loop, limits: Limits | None = None) -> int:
    """`limits`: the limits in force, if they differ from the file's."""
    return 0 if loop.control.status == "completed" else attempts_left(loop, limits)


def bound_in_words(bound: int) -> str:
    return f"at most {counted(bound, 'more attempt')}"


def effort_in_words(control: Control) -> str:
    """Attempts so far; with enough data, also the attempts for each resolved atom."""
    made = f"{counted(control.tried, 'attempt')} so far"
    if control.won and control.needed > control.won:
        return f"{made}, {control.needed / control.won:.1f} for each resolved atom"
    return made


def bound_as_data(bound: int) -> dict[str, Any]:
    return {"attempts_left_at_most": bound}


def allowance_in_words(loop: Loop, overriding: Mapping[str, Any]) -> str:
    """`overriding`: limits that replace the file's limits for this run."""
    limits = limits_of(replace(loop.objective.constraints, **overriding))
    attempts, each = attempts_left(loop, limits), usd_each(loop.control)
    words = f"at most {counted(attempts, 'attempt')}{_money(loop, limits)}{_time(loop, limits)}"
    return (
        words if each is None or not attempts else f"{words}; about {dollars(each)} each so far, {_reach(loop, limits)}"
    )


def usd_each(control: Control) -> float | None:
    """The average cost of an attempt of this loop; None: unknown, or free."""
    prices = control.prices
    if prices.attempts and prices.attempts_usd:
        return prices.attempts_usd / prices.attempts
    return control.cost_usd / control.tried if control.tried and control.cost_usd else None


def _money(loop: Loop, limits: Limits) -> str:
    if limits.max_cost_usd is None:
        return ", with no limit of cost (--max-cost sets one)" if _asks_agents(loop) else ""
    spent = loop.control.cost_usd
    already = f" ({dollars(spent)} of {dollars(limits.max_cost_usd)} are spent)" if spent else ""
    return f", and at most {dollars(_left(loop, limits))}{already}"


def _time(loop: Loop, limits: Limits) -> str:
    """A limit of time is for the whole loop: what earlier runs took counts."""
    if limits.max_runtime is None:
        return ""
    ran = loop.control.ran_seconds
    return f", and {limits.max_runtime} of work{f' ({lasting(ran)} are over)' if ran >= 1 else ''}"


def _reach(loop: Loop, limits: Limits) -> str:
    """How many attempts the money is enough for."""
    attempts, each = attempts_left(loop, limits), usd_each(loop.control) or 0.0
    if limits.max_cost_usd is not None and attempts * each > (left := _left(loop, limits)):
        return f"so the money is enough for about {int(left / each):,}"
    return f"so at most about {dollars(attempts * each)}"


def _left(loop: Loop, limits: Limits) -> float:
    return max((limits.max_cost_usd or 0.0) - loop.control.cost_usd, 0.0)


def _asks_agents(loop: Loop) -> bool:
    """True if an agent does an open atom; commands cost nothing."""
    graph = Graph(loop)
    return any(graph.atoms[atom_id].run is None for atom_id in graph.unresolved())
