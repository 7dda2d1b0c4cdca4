"""What bounds a run: the constraints of the objective, and how durations are written."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.findings import Finding, Path, error
from aotloop.core.model import Constraints, Duration

SECONDS_PER = {"s": 1, "m": 60, "h": 3600, "d": 86400}

LOWEST = {
    "max_iterations": 1,
    "max_parallel_agents": 1,
    "max_stall_count": 1,
    "max_attempts": 1,
    "max_depth": 0,
    "max_children": 1,
}


def seconds(duration: Duration) -> float:
    """90 → 90.0, "90s" → 90.0, "1h30m" → 5400.0. Raises ValueError for what is not a positive length of time."""
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
        if getattr(constraints, name) < lowest:
            yield error((*path, name), f"{getattr(constraints, name)} is less than {lowest}")
    cost = constraints.max_cost_usd
    if cost is not None and not 0 < cost < float("inf"):
        yield error((*path, "max_cost_usd"), f"{cost:g} is not a positive amount")
    if constraints.max_runtime is not None:
        yield from problem_of_duration(constraints.max_runtime, (*path, "max_runtime"))
