"""Whether a loop may start: it was agreed on, its file is valid, and it waits to be started."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import msgspec

from aotloop.core.findings import Finding, dotted, warning
from aotloop.core.graph import Graph
from aotloop.core.model import Loop

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")
STARTABLE = ("pending", "stopped")


class Gate(msgspec.Struct, frozen=True):
    ready: bool
    missing: tuple[str, ...]
    status: str | None
    warnings: tuple[str, ...] = ()


def gate_of(loop: Loop, findings: list[Finding]) -> Gate:
    """`findings` are those of the file and of its invariants; any error among them keeps the gate shut."""
    missing = [
        f"objective.{name} is blank"
        for name in AGREED
        if not getattr(loop.objective, name).strip()
    ]
    missing += [str(finding) for finding in findings if finding.level == "error"]
    if loop.control.status not in STARTABLE:
        missing.append(f"control.status is {loop.control.status}, not {' or '.join(STARTABLE)}")
    doubts = [finding for finding in findings if finding.level == "warning"]
    if not missing:
        doubts += _does_not_fit(loop)
    return Gate(
        ready=not missing,
        missing=tuple(missing),
        status=loop.control.status,
        warnings=tuple(f"{dotted(doubt.path)}: {doubt.message}" for doubt in doubts),
    )


def _does_not_fit(loop: Loop) -> Iterator[Finding]:
    """Even if every attempt succeeds, each iteration resolves at most one level and `max_parallel_agents` atoms."""
    graph = Graph(loop)
    limits = loop.objective.constraints
    work = [one for one in graph.unresolved() if one not in graph.children_of]
    levels = _longest_chain(graph, set(work))
    least = max(levels, ceil(len(work) / limits.max_parallel_agents))
    left = limits.max_iterations - loop.control.iteration
    if least > left:
        yield warning(
            ("objective", "constraints", "max_iterations"),
            f"{len(work)} atoms, {levels} in the longest chain, need at least {least} iterations"
            f" with {limits.max_parallel_agents} in parallel; {max(left, 0)} are left",
        )


def _longest_chain(graph: Graph, work: set[str]) -> int:
    longest: dict[str, int] = {}
    for atom_id in graph.consumers_first:
        after = max((longest[one] for one in graph.consumers.get(atom_id, ()) if one in longest), default=0)
        longest[atom_id] = after + (atom_id in work)
    return max(longest.values(), default=0)
