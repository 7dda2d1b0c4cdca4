"""Whether a loop may start: it was agreed on, its file is valid, and it waits to be started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

import msgspec

from aotloop.core.findings import Finding, dotted, warning
from aotloop.core.graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.model import Loop

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")
STARTABLE = ("pending", "stopped")


class Gate(msgspec.Struct, frozen=True):
    ready: bool
    missing: tuple[str, ...]
    """Key paths of what is not there or blank; else sentences saying what stands in the way."""
    status: str | None
    warnings: tuple[str, ...] = ()


def gate_of(loop: Loop | None, findings: Iterable[Finding]) -> Gate:
    """`findings` are those of the file and of its invariants; any error among them keeps the gate shut."""
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
            missing.append(f"control.status is {loop.control.status}; it has to be {' or '.join(STARTABLE)}")
        if not missing:
            doubts += _does_not_fit(loop)
    return Gate(
        ready=loop is not None and not missing,
        missing=tuple(missing),
        status=loop.control.status if loop is not None else None,
        warnings=tuple(str(doubt) for doubt in doubts),
    )


def _does_not_fit(loop: Loop) -> Iterator[Finding]:
    """Even if every attempt succeeds, an iteration resolves at most one of a chain and `max_parallel_agents` in all."""
    graph = Graph(loop)
    limits = limits_of(loop.objective.constraints)
    work = {one for one in graph.unresolved() if one not in graph.children_of}
    chain = _longest_chain(graph, work)
    least = max(chain, ceil(len(work) / limits.max_parallel_agents))
    left = max(limits.max_iterations - loop.control.iteration, 0)
    if least > left:
        yield warning(
            ("objective", "constraints", "max_iterations"),
            f"{len(work)} atoms, {chain} of them in one chain, need at least {least} iterations with"
            f" {limits.max_parallel_agents} in parallel; {left} are left",
        )


def _longest_chain(graph: Graph, work: set[str]) -> int:
    longest: dict[str, int] = {}
    for atom_id in graph.consumers_first:
        consumers = [one for one in graph.consumers.get(atom_id, ()) if one in graph.required]
        after = max((longest[one] for one in consumers if one in longest), default=0)
        longest[atom_id] = after + (atom_id in work)
    return max(longest.values(), default=0)
