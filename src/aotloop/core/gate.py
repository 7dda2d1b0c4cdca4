"""The gate: whether a loop may start. It was agreed on, its file is valid, and it waits to be started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from aotloop.core.checks.checklist import check_of
from aotloop.core.findings import Finding, Path, dotted, warning
from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.generations import is_begun
from aotloop.core.limits import EFFORTS, limits_of
from aotloop.core.measure import attempts_allowed, attempts_left
from aotloop.core.model import Loop
from aotloop.text.phrases import listed

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")
STARTABLE = ("pending", "stopped")


class Gate(msgspec.Struct, frozen=True):
    ready: bool
    missing: tuple[str, ...]
    """Key paths of values that are absent or blank; otherwise sentences that name the obstacle."""
    status: str | None
    warnings: tuple[str, ...] = ()


def gate_of(loop: Loop | None, findings: Iterable[Finding]) -> Gate:
    """`findings` come from the file and its invariants. Any error among them keeps the gate closed."""
    found = list(findings)
    missing = [
        dotted(finding.path) if finding.missing and finding.path else str(finding)
        for finding in found
        if finding.level == "error"
    ]
    doubts = [finding for finding in found if finding.level == "warning"]
    if loop is not None:
        missing += [f"objective.{name}" for name in AGREED if not getattr(loop.objective, name).strip()]
        if loop.control.status not in STARTABLE:
            missing.append(f"the loop is {loop.control.status}; only a {' or '.join(STARTABLE)} loop can start")
        if not missing:
            doubts += _doubts(loop)
    return Gate(
        ready=loop is not None and not missing,
        missing=tuple(missing),
        status=loop.control.status if loop is not None else None,
        warnings=tuple(str(doubt) for doubt in doubts),
    )


def _doubts(loop: Loop) -> Iterator[Finding]:
    graph = Graph(loop)
    work = [atom_id for atom_id in graph.unresolved() if atom_id not in graph.children_of]
    yield from contradictions(graph, work)
    yield from _unchecked(graph, work)


def _unchecked(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """Atoms that count as done when their agent says so. For a single one, the base case shows the result soon."""
    base_case = graph.loop.objective.base_case
    found = [
        atom.id
        for atom in graph.loop.atoms
        if atom.status != "resolved"
        and atom.run is None
        and atom.repairs is None
        and atom.id not in graph.children_of
        and check_of(atom, base_case) is None
    ]
    if found and len(work) > 1:
        have = "atom has" if len(found) == 1 else "atoms have"
        message = f"{len(found)} {have} no check ({listed(found)})"
        yield warning(
            ("atoms",), f"{message}; let `covers` name the items of the base case that each of them makes true"
        )


_HERE: Path = ("objective", "constraints")


def contradictions(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """`work`: the atoms that still have to be done."""
    if not work:
        return
    yield from _too_few_attempts(graph, work)
    yield from _turn_longer_than_all(graph)
    yield from _too_few_iterations(graph, work)
    yield from _too_few_stalls(graph, work)


def _too_few_attempts(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """The attempts do not suffice, even if every attempt succeeds."""
    allowed, left = attempts_allowed(graph.loop), attempts_left(graph.loop)
    if left < len(work):
        is_set = graph.loop.objective.constraints.max_total_attempts is not None
        message = f"{len(work)} atoms need one attempt each; of {allowed} attempts {left} are left"
        yield warning((*_HERE, "max_total_attempts" if is_set else "effort"), message)


def _turn_longer_than_all(graph: Graph) -> Iterator[Finding]:
    """No other choice would have its turn, and no earlier choice would be blamed."""
    constraints = graph.loop.objective.constraints
    longest, allowed = constraints.max_attempts, attempts_allowed(graph.loop)
    if longest is not None and longest > allowed:
        is_set = constraints.max_total_attempts is not None
        of = "max_total_attempts" if is_set else f"`effort: {constraints.effort}`"
        message = f"{longest} failures in a row are more than all {allowed} attempts of {of}"
        yield warning((*_HERE, "max_attempts"), message)


def _too_few_iterations(graph: Graph, work: list[str]) -> Iterator[Finding]:
    control, constraints = graph.loop.control, graph.loop.objective.constraints
    here = (*_HERE, "max_iterations")
    most = limits_of(constraints).max_iterations
    left = max(most - control.iteration, 0) + is_begun(control.generation)
    room, wanted = left * least_outcomes(graph, work), attempts_left(graph.loop)
    if not left:
        yield warning(here, f"{control.iteration} iterations were made, {most} are allowed: none is left")
    elif constraints.max_iterations is not None and _are_many_wanted(graph) and room < wanted:
        message = f"iterations are over after about {room} attempts ({left} iterations)"
        yield warning(here, f"{message}, so that the {wanted} attempts that are left cannot be made")


def _too_few_stalls(graph: Graph, work: list[str]) -> Iterator[Finding]:
    constraints = graph.loop.objective.constraints
    stalls, usual = constraints.max_stall_count, EFFORTS[constraints.effort].max_stall_count
    if stalls is not None and constraints.effort == "high" and 2 * stalls < usual:
        attempts = stalls * least_outcomes(graph, work)
        message = f"{stalls} beside `effort: high`, which has {usual}, ends the loop after {attempts} attempts in vain"
        yield warning((*_HERE, "max_stall_count"), f"{message}, of {attempts_left(graph.loop)} that are left")


def _are_many_wanted(graph: Graph) -> bool:
    """A person who only sets a low number of iterations wants a short loop."""
    constraints = graph.loop.objective.constraints
    return constraints.effort == "high" or constraints.max_total_attempts is not None
