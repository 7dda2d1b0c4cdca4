"""What a run would do if every attempt succeeded: worked out on a copy of the loop, and nothing is run.

Atoms without an estimate count as one minute each; if none has one, lengths are in atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from aotloop.cli.bound import bound_of
from aotloop.core.conduct import Run, conduct
from aotloop.core.conduct.reports import Began
from aotloop.core.graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.model import Loop
from aotloop.simulator import AllGoesWell, Simulated, Span, simulate

ENDLESS = 10**9
"""More iterations, and attempts, than any run has."""


class Iterations(msgspec.Struct, frozen=True, kw_only=True):
    before: int
    """That the loop has had already."""
    planned: int
    needed: int | None
    """To get everything done; None if no number of them would be enough."""
    allowed: int
    """All in all."""


class CriticalPath(msgspec.Struct, frozen=True, kw_only=True):
    """Atoms that wait for one another, and take longer than any others that do."""

    atoms: tuple[str, ...] = ()
    length: float = 0.0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    slots: int
    bound: int
    iterations: Iterations
    left: tuple[str, ...] = ()
    """Atoms that have to be worked on, in the order of the file."""
    unestimated: int = 0
    """How many of them have no estimate."""
    spans: tuple[Span, ...] = ()
    """Attempts in the order in which they begin, as far as the limits allow."""
    width: int = 0
    critical_path: CriticalPath = CriticalPath()
    total_work: float = 0.0
    makespan: float = 0.0
    """Of everything, whether or not the limits allow it."""
    attempts_needed: int | None = None
    """To get everything done; None if no number of them would be enough."""
    reason: str | None = None
    """Why it would end before the base case holds; None if it would not."""

    @property
    def unit(self) -> Literal["minutes", "atoms"]:
        return "atoms" if self.unestimated == len(self.left) else "minutes"

    @property
    def lower_bound(self) -> float:
        """With so many slots, no order of the atoms takes less."""
        return max(self.critical_path.length, self.total_work / self.slots)


def plan_of(loop: Loop, overriding: Mapping[str, Any] | None = None) -> Plan:
    """`overriding`: limits that take the place of what the loop allows. The loop is not changed."""
    start = _as_it_would_start(loop, overriding or {})
    limits, before, bound = limits_of(start.objective.constraints), loop.control.iteration, bound_of(start)
    if loop.control.status == "completed":
        nothing = Iterations(before=before, planned=0, needed=0, allowed=limits.max_iterations)
        return Plan(slots=limits.max_parallel_agents, bound=bound, iterations=nothing)
    if _unestimated(Graph(start)):  # then minutes are no minutes, and do not run out
        _limit(start, max_runtime=None)
    planned, end = _simulated(start)
    whole, end_of_all = (planned, end) if planned.reason is None else _simulated(_without_limits(start))
    graph = Graph(_begun(start, end_of_all))
    left = _left(graph)
    return Plan(
        slots=limits.max_parallel_agents,
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


def _simulated(start: Loop) -> tuple[Simulated, Loop]:
    """How it went, and what the loop was like at the end."""
    loop = start.snapshot()
    return simulate(loop, AllGoesWell()), loop


def _begun(start: Loop, end: Loop) -> Loop:
    """Before the first attempt, after what an earlier run has left to be decided; but who wins a race is known."""
    loop = start.snapshot()
    conduct(Run(loop), Began(at=""))
    loop.or_groups = end.or_groups
    return loop


def _left(graph: Graph) -> tuple[str, ...]:
    return tuple(one for one in graph.unresolved() if one not in graph.children_of)


def _unestimated(graph: Graph) -> int:
    return sum(graph.atoms[one].estimate is None for one in _left(graph))


# --- limits ------------------------------------------------------------------------------------------------------


def _as_it_would_start(loop: Loop, overriding: Mapping[str, Any]) -> Loop:
    """Whoever starts it anew has dealt with what was requested before."""
    start = loop.snapshot()
    start.control = replace(loop.control, stop_requested=False, redirect_requested=False)
    _limit(start, **overriding)
    return start


def _without_limits(start: Loop) -> Loop:
    """As patient as it is: that is a share of the attempts allowed, so those stay, and none of them is used up."""
    loop = start.snapshot()
    loop.control = replace(loop.control, tried=-ENDLESS)
    _limit(loop, max_iterations=ENDLESS, max_runtime=None, max_cost_usd=None)
    return loop


def _limit(loop: Loop, **limits: Any) -> None:
    loop.objective = replace(loop.objective, constraints=replace(loop.objective.constraints, **limits))


# --- the critical path -------------------------------------------------------------------------------------------


def _critical_path(graph: Graph) -> CriticalPath:
    """When everything would end if there were slots for all; and which atoms that hangs on, the first among equals."""
    ends: dict[str, float] = {}
    hangs_on: dict[str, str | None] = {}

    def last(atom_ids: Iterable[str]) -> str | None:
        known = (one for one in atom_ids if one in ends)
        return max(known, key=lambda one: (ends[one], -graph.position[one]), default=None)

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
    return CriticalPath(atoms=tuple(one for one in reversed(chain) if one not in graph.children_of), length=length)


def _selected(graph: Graph, atom_id: str) -> str:
    group = graph.group(atom_id)
    return group.selected if group is not None else atom_id
