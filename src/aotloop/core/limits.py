"""Limits of a run: the constraints of the objective, the defaults of `effort`, and the format of durations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import msgspec

from aotloop.core.findings import Finding, Path, error
from aotloop.core.model import Constraints, Duration, Effort

SECONDS_PER = {"s": 1, "m": 60, "h": 3600, "d": 86400}

LOWEST = {
    "max_iterations": 1,
    "max_parallel_agents": 1,
    "max_stall_count": 1,
    "max_attempts": 1,
    "max_total_attempts": 1,
    "max_depth": 0,
    "max_children": 1,
}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The constraints in force. Only values that depend on the graph are still open."""

    max_iterations: int
    max_parallel_agents: int
    max_stall_count: int
    max_attempts: int
    max_total_attempts: int | None
    """None: `attempts_per_atom` for each atom; see aotloop.core.measure."""
    attempts_per_atom: int
    max_depth: int
    max_children: int
    max_cost_usd: float | None
    max_runtime: Duration | None
    verify_each_iteration: bool


class _Effort(msgspec.Struct, frozen=True, kw_only=True):
    max_iterations: int
    max_stall_count: int
    max_attempts: int
    attempts_per_atom: int


EFFORTS: dict[Effort, _Effort] = {
    "low": _Effort(max_iterations=10, max_stall_count=2, max_attempts=1, attempts_per_atom=4),
    "normal": _Effort(max_iterations=20, max_stall_count=3, max_attempts=2, attempts_per_atom=10),
    "high": _Effort(max_iterations=60, max_stall_count=5, max_attempts=3, attempts_per_atom=30),
}
"""Limits that belong together: patience with single atoms is useless in a run that ends too early."""

SET_BY_EFFORT = ("max_iterations", "max_stall_count", "max_attempts")


@lru_cache(maxsize=64)  # called for every event
def limits_of(constraints: Constraints) -> Limits:
    effort = EFFORTS[constraints.effort]
    given = {name: getattr(constraints, name) for name in Constraints.__struct_fields__ if name != "effort"}
    given |= {name: getattr(effort, name) for name in SET_BY_EFFORT if given[name] is None}
    return Limits(attempts_per_atom=effort.attempts_per_atom, **given)


def seconds(duration: Duration) -> float:
    """90 → 90.0, "90s" → 90.0, "1h30m" → 5400.0. Raises ValueError if the text is not a positive duration."""
    try:
        total = _sum_of_parts(duration) if isinstance(duration, str) else float(duration)
    except OverflowError:
        raise ValueError(duration) from None
    if not 0 < total < float("inf"):
        raise ValueError(duration)
    return total


def _sum_of_parts(duration: str) -> float:
    total, number = 0.0, ""
    for character in duration.strip().lower().replace(" ", ""):
        if character in SECONDS_PER:
            total += float(number) * SECONDS_PER[character]
            number = ""
        elif character.isdecimal() or character == ".":
            number += character
        else:
            raise ValueError(duration)
    if number and total:  # "1h30" may mean minutes or seconds
        raise ValueError(duration)
    return total + float(number or 0)


def problem_of_duration(duration: Duration, path: Path) -> Iterator[Finding]:
    try:
        seconds(duration)
    except ValueError:
        yield error(path, f"{duration!r} is not a length of time; write seconds, or e.g. 90s, 30m, 1h30m")


def problems_of_constraints(constraints: Constraints, path: Path) -> Iterator[Finding]:
    for name, lowest in LOWEST.items():
        value = getattr(constraints, name)
        if value is not None and value < lowest:
            yield error((*path, name), f"{value} is less than {lowest}")
    cost = constraints.max_cost_usd
    if cost is not None and not 0 < cost < float("inf"):
        yield error((*path, "max_cost_usd"), f"{cost:g} is not a positive amount")
    if constraints.max_runtime is not None:
        yield from problem_of_duration(constraints.max_runtime, (*path, "max_runtime"))
