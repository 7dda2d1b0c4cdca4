"""Limits that do not go together: one of them ends the loop before another one can mean anything.

A generation lasts for some attempts (aotloop.core.units), so iterations and stalls are attempts, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.findings import Finding, Path, warning
from aotloop.core.generations import is_begun
from aotloop.core.graph import Graph
from aotloop.core.limits import EFFORTS, limits_of
from aotloop.core.measure import attempts_allowed, attempts_left
from aotloop.core.units import least_outcomes

_HERE: Path = ("objective", "constraints")


def contradictions(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """`work`: the atoms that somebody still has to do."""
    if not work:
        return
    yield from _too_few_attempts(graph, work)
    yield from _turn_longer_than_all(graph)
    yield from _too_few_iterations(graph, work)
    yield from _too_few_stalls(graph, work)


def _too_few_attempts(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """Even if every attempt succeeds."""
    allowed, left = attempts_allowed(graph.loop), attempts_left(graph.loop)
    if left < len(work):
        is_set = graph.loop.objective.constraints.max_total_attempts is not None
        told = f"{len(work)} atoms need one attempt each; of {allowed} attempts {left} are left"
        yield warning((*_HERE, "max_total_attempts" if is_set else "effort"), told)


def _turn_longer_than_all(graph: Graph) -> Iterator[Finding]:
    constraints = graph.loop.objective.constraints
    longest, most = constraints.max_attempts, constraints.max_total_attempts
    if longest is not None and most is not None and longest > most:
        told = f"{longest} failures in a row are more than all {most} attempts of max_total_attempts"
        yield warning((*_HERE, "max_attempts"), told)


def _too_few_iterations(graph: Graph, work: list[str]) -> Iterator[Finding]:
    control, constraints = graph.loop.control, graph.loop.objective.constraints
    here = (*_HERE, "max_iterations")
    most = limits_of(constraints).max_iterations
    left = max(most - control.iteration, 0) + is_begun(control.generation)
    room, wanted = left * least_outcomes(graph, work), attempts_left(graph.loop)
    if not left:
        yield warning(here, f"{control.iteration} iterations were made, {most} are allowed: none is left")
    elif constraints.max_iterations is not None and _are_many_wanted(graph) and room < wanted:
        told = f"iterations are over after about {room} attempts ({left} iterations)"
        yield warning(here, f"{told}, so that the {wanted} attempts that are left cannot be made")


def _too_few_stalls(graph: Graph, work: list[str]) -> Iterator[Finding]:
    constraints = graph.loop.objective.constraints
    stalls, usual = constraints.max_stall_count, EFFORTS[constraints.effort].max_stall_count
    if stalls is not None and constraints.effort == "high" and 2 * stalls < usual:
        attempts = stalls * least_outcomes(graph, work)
        told = f"{stalls} beside `effort: high`, which has {usual}, ends the loop after {attempts} attempts in vain"
        yield warning((*_HERE, "max_stall_count"), f"{told}, of {attempts_left(graph.loop)} that are left")


def _are_many_wanted(graph: Graph) -> bool:
    """Who only sets few iterations wants the loop to be short."""
    constraints = graph.loop.objective.constraints
    return constraints.effort == "high" or constraints.max_total_attempts is not None
