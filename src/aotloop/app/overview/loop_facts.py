"""One loop as a page shows it: its head, its atoms, its groups; and what of it differs from what was shown before."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from aotloop.app.diagram.diagram import Look, looks_of
from aotloop.app.overview.attention import need_of_loop
from aotloop.app.preflight.agreement import changed_since_agreed
from aotloop.app.redirect.proposals import proposals_of
from aotloop.core.commands import commands_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of, seconds
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.policy.progress import tokens_of
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose
from aotloop.text.shorten import shorten
from aotloop.trust.accepted_commands import is_trusted

_LONGEST = 300


class Head(msgspec.Struct, frozen=True, kw_only=True):
    goal: str
    folder: str
    state_file: str
    status: str
    is_run: bool
    runner: str | None
    """The process, or the session, that drives the loop."""
    stop_reason: str | None
    need: str | None
    required: int
    resolved: int
    iteration: int
    max_iterations: int
    stall_count: int
    max_stall_count: int
    tried: int
    attempts_left: int
    cost_usd: float
    max_cost_usd: float | None
    ran_seconds: float
    max_seconds: float | None
    tokens: int
    slots: int
    run_id: str | None
    background_intent: str
    deliverables: str
    definition_of_done: str
    protect: tuple[str, ...]
    is_accepted: bool
    """This user accepted all commands of the file."""
    changed: tuple[str, ...]
    """What was edited in the file without an agreement."""
    proposals: int
    """Corrections that sessions propose, and that a person has to decide about."""
    constraints: dict[str, Any]
    groups: dict[str, dict[str, Any]]


class AtomRow(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    description: str
    look: Look
    group: str | None = None
    is_selected: bool = False
    failures: int = 0
    agent: str | None = None


class LoopFacts(msgspec.Struct, frozen=True, kw_only=True):
    head: Head
    atoms: tuple[AtomRow, ...]


def facts_of(store: Store) -> LoopFacts:
    loop = store.load()
    graph = Graph(loop)
    return LoopFacts(head=_head(store, loop, graph), atoms=tuple(_rows(loop, graph, looks_of(graph))))


def _rows(loop: Loop, graph: Graph, looks: dict[str, Look]) -> list[AtomRow]:
    return [
        AtomRow(
            id=atom.id,
            description=_described(atom.description),
            look=looks[atom.id],
            group=(name := graph.group_of.get(atom.id)),
            is_selected=name is not None and loop.or_groups[name].selected == atom.id,
            failures=max(atom.failures, atom.attempts),
            agent=atom.agent,
        )
        for atom in loop.atoms
    ]


@lru_cache(maxsize=20_000)
def _described(text: str) -> str:
    """Cached, because descriptions hardly ever change, and a page receives every change of a loop."""
    return shorten(prose(text[: 10 * _LONGEST]), _LONGEST)


def _head(store: Store, loop: Loop, graph: Graph) -> Head:
    control, limits, objective = loop.control, limits_of(loop.objective.constraints), loop.objective
    holder = holder_of(store.path)
    session = f"the session {control.session_id}" if control.session_id and control.status == "running" else None
    runner = holder.name if holder is not None else session
    return Head(
        goal=objective.goal,
        folder=project_root(store.path),
        state_file=store.path,
        status=control.status,
        is_run=runner is not None,
        runner=runner,
        stop_reason=control.stop_reason,
        need=need_of_loop(store, loop, is_run=runner is not None),
        required=len(graph.required),
        resolved=len(graph.required) - len(graph.unresolved()),
        iteration=control.iteration,
        max_iterations=limits.max_iterations,
        stall_count=control.stall_count,
        max_stall_count=limits.max_stall_count,
        tried=control.tried,
        attempts_left=0 if control.status == "completed" else attempts_left(loop),
        cost_usd=control.cost_usd,
        max_cost_usd=limits.max_cost_usd,
        ran_seconds=control.ran_seconds,
        max_seconds=seconds(limits.max_runtime) if limits.max_runtime is not None else None,
        tokens=tokens_of(control.used),
        slots=limits.max_parallel_agents,
        run_id=control.run_id,
        background_intent=objective.background_intent,
        deliverables=objective.deliverables,
        definition_of_done=objective.definition_of_done,
        protect=objective.protect,
        is_accepted=is_trusted(store.path, commands_of(loop)),
        changed=tuple(changed_since_agreed(store, objective)) if control.status != "pending" else (),
        proposals=len(proposals_of(store)),
        constraints=msgspec.to_builtins(objective.constraints),
        groups={name: msgspec.to_builtins(group) for name, group in loop.or_groups.items()},
    )


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What a page has to change to show the present state."""

    head: Head
    changed: tuple[AtomRow, ...]
    removed: tuple[str, ...]
    order: tuple[str, ...] | None = None
    """All atoms in their order, if that is another one than before."""


def difference(before: LoopFacts | None, after: LoopFacts) -> Difference | None:
    """None: there is nothing new. `before` None: everything is new."""
    if before == after:
        return None
    known = {row.id: row for row in before.atoms} if before is not None else {}
    order = tuple(row.id for row in after.atoms)
    present = set(order)
    return Difference(
        head=after.head,
        changed=tuple(row for row in after.atoms if known.get(row.id) != row),
        removed=tuple(atom for atom in known if atom not in present),
        order=order if order != tuple(known) else None,
    )
