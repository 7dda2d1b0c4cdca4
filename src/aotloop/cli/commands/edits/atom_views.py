"""`aot atom list` and `aot atom show`: they show the atoms."""

from __future__ import annotations

from typing import Any

import click

from aotloop.app.loops import known_atom, open_store
from aotloop.cli.ui.failures import failures_as_data, failures_in_words
from aotloop.cli.ui.loop_names import complete_atom
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import heading, named, say_json, say_next, tell
from aotloop.core.checks.checklist import Leaf, check_of, leaves
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.statefile.yaml.emitter import to_data
from aotloop.text.sanitize import prose, visible

LOOKS = {"pending": ("○", None), "in_progress": ("●", "yellow"), "resolved": ("✔", "green")}


@click.command(
    "list",
    epilog="""\b
Examples:
  aot atom list
  aot atom list --ready
""",
)
@state_file_option
@json_option
@click.option("--ready", is_flag=True, help="Only atoms that can start now, best first.")
def list_(state_file: str | None, as_json: bool, ready: bool) -> None:
    """List the atoms, and why those that wait cannot start."""
    loop = open_store(state_file).load()
    graph = Graph(loop)
    startable = graph.ready()
    atoms = [graph.atoms[atom_id] for atom_id in startable] if ready else loop.atoms
    if as_json:
        say_json({"atoms": to_data(list(atoms)), "executable_atoms": startable})
        return
    width = max((len(visible(atom.id)) for atom in atoms), default=0)
    for atom in atoms:
        symbol, colour = LOOKS[atom.status]
        head = f"{click.style(symbol, fg=colour)} {visible(atom.id):<{width}}  "
        tell(prose(atom.description), head=head, note=_note(graph, atom))
    if not atoms:
        click.echo("No atom can start now." if ready else "There are no atoms yet.")
    steps = [f"aot atom start {named(atom_id)}" for atom_id in startable[:2]]
    say_next(*(steps if loop.atoms else ['aot atom add "…"']))


def _note(graph: Graph, atom: Atom) -> str:
    if atom.status != "pending":
        return ""
    why = prose(graph.why_not_ready(atom.id) or "ready")
    return ", ".join(filter(None, (why, failures_in_words(graph, atom))))


@click.command(
    "show",
    epilog="""\b
Examples:
  aot atom show A2
  aot atom show A2 --json | jq .not_ready
""",
)
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
def show(state_file: str | None, as_json: bool, atom: str) -> None:
    """Show everything about ATOM."""
    loop = open_store(state_file).load()
    found = known_atom(loop, atom)
    graph = Graph(loop)
    facts = _facts(loop, graph, found)
    if as_json:
        say_json(facts)
        return
    tell(prose(found.description), head=f"{heading(visible(found.id))}  ")
    for name, value in _told(facts, loop, found).items():
        for text in value if isinstance(value, list) else [value]:
            tell(prose(text), head=f"  {name:<10}  ")
    _suggest(found, ready=facts["ready"])


def _suggest(atom: Atom, *, ready: bool) -> None:
    if ready:
        say_next(f"aot atom start {named(atom.id)}")
    elif atom.status == "in_progress":
        say_next(f'aot atom resolve {named(atom.id)} --summary "…"', f'aot atom fail {named(atom.id)} --reason "…"')
    else:
        say_next("aot atom list --ready")


def _facts(loop: Loop, graph: Graph, atom: Atom) -> dict[str, Any]:
    return {
        **to_data(atom),
        "ready": atom.id in graph.ready(),
        "not_ready": graph.why_not_ready(atom.id) if atom.status == "pending" else None,
        "required": atom.id in graph.required,
        "needed_by": sorted(graph.consumers.get(atom.id, ()), key=lambda consumer: graph.position[consumer]),
        "children": list(graph.children_of.get(atom.id, ())),
        "parents": list(graph.parents_of.get(atom.id, ())),
        "binding": to_data(loop.bindings.get(atom.id)),
        "failed_attempts": {**failures_as_data(atom), "words": failures_in_words(graph, atom)},
        "failures": [entry.reason for entry in loop.trail if entry.type == "failure" and entry.atom == atom.id],
    }


def _told(facts: dict[str, Any], loop: Loop, atom: Atom) -> dict[str, str | list[str]]:
    """The facts in words, in the order in which a person asks for them; empty facts are left out."""
    binding = facts["binding"] or {}
    state = "ready" if facts["ready"] else facts["not_ready"]
    data = {
        "status": f"{atom.status}, {state}" if state else atom.status,
        "required": "" if facts["required"] else "no",
        "or group": atom.or_group or "",
        "waits for": ", ".join(atom.depends_on),
        "needed by": ", ".join(facts["needed_by"]),
        "children": ", ".join(facts["children"]),
        "part of": ", ".join(facts["parents"]),
        "run": atom.run or "",
        "check": _checks(loop, atom),
        "covers": list(atom.covers),
        "touches": ", ".join(atom.touches),
        "estimate": f"{atom.estimate:g} min" if atom.estimate is not None else "",
        "result": binding.get("summary", ""),
        "artifacts": ", ".join(binding.get("artifacts", ())),
        "attempts": facts["failed_attempts"]["words"],
        "failed": list(facts["failures"]),
    }
    return {name: value for name, value in data.items() if value}


def _checks(loop: Loop, atom: Atom) -> list[str]:
    tree = check_of(atom, loop.objective.base_case)
    return [_check(leaf) for leaf in leaves(tree)] if tree is not None else []


def _check(leaf: Leaf) -> str:
    return f"{leaf.check.type}: {leaf.check.value or leaf.check.criteria or 'rubric'}"
