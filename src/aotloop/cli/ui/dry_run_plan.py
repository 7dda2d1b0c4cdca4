"""Calculates the plan of a run in which every attempt succeeds, on a copy of the loop; nothing is run.

An atom without an estimate counts as one minute; if no atom has an estimate, lengths are in atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from aotloop.cli.ui.allowance import bound_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.model import Loop
from aotloop.core.scheduler.decisions import conduct
from aotloop.core.scheduler.reports import Began
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.slots import most_at_once
from aotloop.simulator import AllGoesWell, Simulated, Span, simulate

ENDLESS = 10**9
"""More iterations and attempts than any run has."""


class Iterations(msgspec.Struct, frozen=True, kw_only=True):
    before: int
    """Iterations before this run."""
    planned: int
    needed: int | None
    """Iterations that complete all work; None if no number is enough."""
    allowed: int
    """The limit of iterations."""


class CriticalPath(msgspec.Struct, frozen=True, kw_only=True):
    """The longest chain of atoms that wait for each other."""

    atoms: tuple[str, ...] = ()
    length: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    slots: int
    bound: int
    iterations: Iterations
    left: tuple[str, ...] = ()
    """Atoms with open work, in the order of the file."""
    unestimated: int = 0
    """The number of those atoms without an estimate."""
    spans: tuple[Span, ...] = ()
    """Attempts in the order in which they begin, within the limits."""
    width: int = 0
    critical_path: CriticalPath = CriticalPath()
    total_work: float = 0.0
    makespan: float = 0.0
    """The length of all work, also beyond the limits."""
    attempts_needed: int | None = None
    """Attempts that complete all work; None if no number is enough."""
    reason: str | None = None
    """Why the run would end before the base case holds; None if it would not."""

    @property
    def unit(self) -> Literal["minutes", "atoms"]:
        return "atoms" if self.unestimated == len(self.left) else "minutes"

    @property
    def lower_bound(self) -> float:
        """With this number of slots, no order of the atoms is faster."""
        return max(self.critical_path.length, self.total_work / self.slots)


def plan_of(loop: Loop, overriding: Mapping[str, Any] | None = None, *, in_place: bool = False) -> Plan:
    """`overriding`: limits that replace the loop's limits. The loop is not changed. `in_place`: only commands that say
    so are there at once.
    """
    start = _as_it_would_start(loop, overriding or {})
    limits, before, bound = limits_of(start.objective.constraints), loop.control.iteration, bound_of(start)
    if loop.control.status == "completed":
        nothing = Iterations(before=before, planned=0, needed=0, allowed=limits.max_iterations)
        return Plan(slots=limits.max_parallel_agents, bound=bound, iterations=nothing)
    if _unestimated(Graph(start)):  # then the lengths are not minutes, so time is no limit
        _limit(start, max_runtime=None)
    planned, end = _simulated(start, in_place)
    whole, end_of_all = (planned, end) if planned.reason is None else _simulated(_without_limits(start), in_place)
    graph = Graph(_begun(start, end_of_all))
    left = _left(graph)
    return Plan(
        slots=most_at_once(Run(start, shares_a_tree=in_place)),
        bound=bound,
        iterations=Iterations(
            before=before,
            planned=end.control.iteration - before,
            needed=end_of_all.control.iteration - before if whole.reason is None else None,
            allowed=limits.max_iterations,
        ),
        left=left,
        unestimated=_unestimated(graph),
        spans=planned.spans,
        width=whole.width,
        critical_path=_critical_path(graph),
        total_work=sum(map(graph.own_estimate, left)),
        makespan=whole.minutes,
        attempts_needed=len(whole.spans) if whole.reason is None else None,
        reason=planned.reason,
    )


def _simulated(start: Loop, in_place: bool) -> tuple[Simulated, Loop]:
    """The course of the run, and the loop at its end."""
    loop = start.snapshot()
    return simulate(loop, AllGoesWell(), shares_a_tree=in_place), loop


def _begun(start: Loop, end: Loop) -> Loop:
    """The loop after its start and before the first attempt, with the choices that win in the simulation."""
    loop = start.snapshot()
    conduct(Run(loop), Began(at=""))
    loop.or_groups = end.or_groups
    return loop


def _left(graph: Graph) -> tuple[str, ...]:
    return tuple(atom_id for atom_id in graph.unresolved() if atom_id not in graph.children_of)


def _unestimated(graph: Graph) -> int:
    return sum(graph.atoms[atom_id].estimate is None for atom_id in _left(graph))


# --- limits ------------------------------------------------------------------------------------------------------


def _as_it_would_start(loop: Loop, overriding: Mapping[str, Any]) -> Loop:
    """A new start has handled all earlier requests."""
    start = loop.snapshot()
    start.control = replace(loop.control, stop_requested=False, redirect_requested=False)
    _limit(start, **overriding)
    return start


def _without_limits(start: Loop) -> Loop:
    """Removes the limits, except the allowed attempts: the patience is a share of them. None of them counts as used."""
    loop = start.snapshot()
    loop.control = replace(loop.control, tried=-ENDLESS)
    _limit(loop, max_iterations=ENDLESS, max_runtime=None, max_cost_usd=None)
    return loop


def _limit(loop: Loop, **limits: Any) -> None:
    loop.objective = replace(loop.objective, constraints=replace(loop.objective.constraints, **limits))


# --- the critical path -------------------------------------------------------------------------------------------


def _critical_path(graph: Graph) -> CriticalPath:
    """The end of all work with enough slots, and the first of the chains of atoms that determine it."""
    ends: dict[str, float] = {}
    hangs_on: dict[str, str | None] = {}

    def last(atom_ids: Iterable[str]) -> str | None:
        known = (atom_id for atom_id in atom_ids if atom_id in ends)
        return max(known, key=lambda atom_id: (ends[atom_id], -graph.position[atom_id]), default=None)

    unresolved = set(graph.unresolved())
    for atom_id in reversed(graph.consumers_first):
        if atom_id in unresolved:
            before = last(_selected(graph, needed) for needed in graph.waits_for(atom_id))
            hangs_on[atom_id] = before
            ends[atom_id] = graph.own_estimate(atom_id) + (ends[before] if before is not None else 0.0)
    following = last(ends)
    length = ends[following] if following is not None else 0.0
    chain: list[str] = []
    while following is not None:
        chain.append(following)
        following = hangs_on[following]
    return CriticalPath(
        atoms=tuple(atom_id for atom_id in reversed(chain) if atom_id not in graph.children_of), length=length
    )


def _selected(graph: Graph, atom_id: str) -> str:
    group = graph.group(atom_id)
    return group.selected if group is not None else atom_id
