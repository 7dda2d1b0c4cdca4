"""Whether a loop may start: it was agreed on, its file is valid, and it waits to be started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from aotloop.core.checklist import check_of
from aotloop.core.contradictions import contradictions
from aotloop.core.findings import Finding, dotted, warning
from aotloop.core.graph import Graph
from aotloop.core.model import Loop

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")
STARTABLE = ("pending", "stopped")
MOST_NAMED = 8


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
            doubts += _doubts(loop)
    return Gate(
        ready=loop is not None and not missing,
        missing=tuple(missing),
        status=loop.control.status if loop is not None else None,
        warnings=tuple(str(doubt) for doubt in doubts),
    )


def _doubts(loop: Loop) -> Iterator[Finding]:
    graph = Graph(loop)
    work = [one for one in graph.unresolved() if one not in graph.children_of]
    yield from contradictions(graph, work)
    yield from _unchecked(graph, work)


def _unchecked(graph: Graph, work: list[str]) -> Iterator[Finding]:
    """Atoms that are done when their agent says so. A single one is told by the base case, right after it."""
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
        named = ", ".join(found[:MOST_NAMED]) + (" …" if len(found) > MOST_NAMED else "")
        have = "atom has" if len(found) == 1 else "atoms have"
        told = f"{len(found)} {have} no check ({named})"
        yield warning(("atoms",), f"{told}; let `covers` name the items of the base case that each of them makes true")
