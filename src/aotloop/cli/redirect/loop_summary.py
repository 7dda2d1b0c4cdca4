"""Shows the state of a loop to a person who is about to change its direction."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.app.redirect.transaction import Applied
from aotloop.cli.ui.allowance import bound_in_words, bound_of, effort_in_words
from aotloop.cli.ui.failures import failures_in_words
from aotloop.cli.ui.output import faint, heading, mark, tell
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import limits_of
from aotloop.core.model import Atom, Loop, OrGroup
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose, visible

MOST_ATOMS = 20
MOST_FAILURES = 5


def show(loop: Loop) -> None:
    _show_objective(loop)
    _show_work(loop)
    _show_groups(loop)
    _show_progress(loop)


def _show_objective(loop: Loop) -> None:
    objective = loop.objective
    tell(prose(objective.goal), style=heading, err=True)
    items = [child.name for child in base_case_tree(objective.base_case).children]
    for name, text in (
        ("why", objective.background_intent),
        ("deliverables", objective.deliverables),
        ("done when", objective.definition_of_done),
        ("base case", ", ".join(items)),
        ("protected", ", ".join(objective.protect)),
    ):
        if text:
            tell(prose(text), head=f"  {name:<12}  ", err=True)


def _show_work(loop: Loop) -> None:
    graph = Graph(loop)
    unresolved = graph.unresolved()
    tell(f"Not resolved: {len(unresolved)} of {len(graph.required)} required atoms", style=heading, err=True)
    width = max((len(visible(atom_id)) for atom_id in unresolved[:MOST_ATOMS]), default=0)
    for atom_id in unresolved[:MOST_ATOMS]:
        atom = graph.atoms[atom_id]
        head = f"  {visible(atom_id):<{width}}  "
        tell(prose(atom.description), head=head, note=", ".join(_standing(graph, atom)), err=True)
    if len(unresolved) > MOST_ATOMS:
        tell(f"  … {len(unresolved) - MOST_ATOMS} more; `aot atom list` shows all", style=faint, err=True)


def _standing(graph: Graph, atom: Atom) -> Iterator[str]:
    yield "ready" if graph.why_not_ready(atom.id) is None else atom.status.replace("_", " ")
    if atom.depends_on:
        yield f"after {visible(', '.join(atom.depends_on))}"
    if atom.id in graph.children_of:
        yield f"parts: {visible(', '.join(graph.children_of[atom.id]))}"
    if failed := failures_in_words(graph, atom):
        yield failed


def _show_groups(loop: Loop) -> None:
    for name, group in loop.or_groups.items():
        choices = ", ".join(f"{choice} ({_choice(group, choice)})" for choice in group.choices)
        tell(visible(choices), head=f"  {visible(name)}: ", err=True)


def _choice(group: OrGroup, choice: str) -> str:
    if choice == group.selected:
        return "selected"
    if choice in group.blamed:
        return "set aside for now"
    return "tried in this round" if choice in group.failed else "waits for its turn"


def _show_progress(loop: Loop) -> None:
    control, limits = loop.control, limits_of(loop.objective.constraints)
    tell(
        f"{control.status}: iteration {control.iteration} of {limits.max_iterations},"
        f" stalls {control.stall_count} of {limits.max_stall_count};"
        f" {effort_in_words(control)}, {bound_in_words(bound_of(loop))}",
        err=True,
    )
    if control.stop_reason:
        tell(f"stop reason: {prose(control.stop_reason)}", err=True)
    known = {atom.id for atom in loop.atoms}
    for entry in [entry for entry in loop.trail if entry.type == "failure" and entry.atom in known][-MOST_FAILURES:]:
        tell(prose(f"{entry.atom}: {entry.reason}"), head=f"{mark(False)} ", err=True)
    verdict = control.verdict
    if verdict is not None and verdict.failing:
        tell(
            prose(f"the base case failed at {verdict.at}: {', '.join(verdict.failing)}"),
            head=f"{mark(False)} ",
            err=True,
        )


def in_words(applied: Applied) -> str:
    if not applied.corrections:
        return "the objective in the file is accepted; nothing had to be changed"
    added = f" (the new atom is {applied.added})" if applied.added is not None else ""
    undone = f"; the results of {', '.join(applied.undone)} no longer count" if applied.undone else ""
    return f"{'; '.join(applied.told)}{added}{undone}"


def next_steps(store: Store) -> list[str]:
    runner = holder_of(store.path)
    return [f"{runner.name} continues with this", "aot watch"] if runner is not None else ["aot run", "aot status"]
