"""`aot atom`: the atoms of the loop, one by one."""

from __future__ import annotations

from typing import Any

import click

from aotloop import app
from aotloop.cli.names import complete_atom
from aotloop.cli.output import (
    counted,
    heading,
    json_option,
    report_done,
    say_json,
    say_next,
    state_file_option,
)
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Exhausted, Retry
from aotloop.core.graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError
from aotloop.statefile.emit import to_data

LOOKS = {"pending": ("○", None), "in_progress": ("●", "yellow"), "resolved": ("✔", "green")}


@click.group("atom")
def command() -> None:
    """Add, start, resolve, fail, decompose and show atoms."""


@command.command(
    epilog="""\b
Examples:
  aot atom add "Write the parser"
  aot atom add "Session tokens" --id A4_alt --depends-on A1 --or-group token_method
  aot atom add "Format the sources" --run "make format" --depends-on A2 --depends-on A3
"""
)
@state_file_option
@json_option
@click.argument("description")
@click.option("--id", "atom", help="[default: the next free A<n>]")
@click.option("--depends-on", multiple=True, shell_complete=complete_atom, help="An atom it waits for (repeatable).")
@click.option("--or-group", help="The group it is a choice of; made if there is none of that name.")
@click.option("--run", help="A command that does this atom, instead of an agent.")
@click.option("--estimate", type=float, help="Minutes it will take.")
def add(
    state_file: str | None,
    as_json: bool,
    description: str,
    atom: str | None,
    depends_on: tuple[str, ...],
    or_group: str | None,
    run: str | None,
    estimate: float | None,
) -> None:
    """Add an atom."""
    needs = tuple(part for word in depends_on for part in word.split(",") if part)
    event = events.AtomAdded(
        atom=atom, description=description, depends_on=needs, or_group=or_group, run=run, estimate=estimate
    )
    effects = app.apply(app.open_store(state_file), event)
    added = next(effect.atoms[0] for effect in effects if isinstance(effect, Added))
    report_done(
        as_json=as_json,
        data={"atom_id": added, "depends_on": list(needs), "or_group": or_group},
        said=f"added {added}: {description}",
        steps=["aot graph", f"aot atom start {added}"],
    )


@command.command(epilog="Example: aot atom start A2")
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
def start(state_file: str | None, as_json: bool, atom: str) -> None:
    """Mark ATOM as being worked on; refused unless everything it waits for is resolved."""
    app.apply(app.open_store(state_file), events.AtomStarted(atom=atom))
    report_done(
        as_json=as_json,
        data={"atom_id": atom, "status": "in_progress"},
        said=f"{atom} is in progress",
        steps=[f'aot atom resolve {atom} --summary "…"', f'aot atom fail {atom} --reason "…"'],
    )


@command.command(epilog='Example: aot atom resolve A2 --summary "parser with tests" --artifact src/parser.py')
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
@click.option("--summary", help="What was achieved; all that later work gets to see of it.")
@click.option("--artifact", "artifacts", multiple=True, help="A file it made or changed (repeatable).")
def resolve(state_file: str | None, as_json: bool, atom: str, summary: str | None, artifacts: tuple[str, ...]) -> None:
    """Mark ATOM as done. Its own check, if it has one, is run and has to pass."""
    store = app.open_store(state_file)
    resolution = app.resolve_atom(store, atom, summary, artifacts)
    also = "".join(f"; {parent} with it" for parent in resolution.auto_resolved)
    also += "".join(f"; but {reason}" for reason in resolution.unverified.values())
    ready = Graph(store.load()).ready()
    report_done(
        as_json=as_json,
        data={
            "atom_id": atom,
            "status": "resolved",
            "auto_resolved": list(resolution.auto_resolved),
            "unverified": resolution.unverified,
        },
        said=f"{atom} is resolved{also}",
        steps=[f"aot atom start {one}" for one in ready[:3]] or ["aot verify"],
    )


@command.command(epilog='Example: aot atom fail A2 --reason "the grammar is ambiguous"')
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
@click.option("--reason", required=True, help="What went wrong; the next attempt will know it.")
def fail(state_file: str | None, as_json: bool, atom: str, reason: str) -> None:
    """Record that an attempt at ATOM failed: it is tried again, or another choice of its group takes over."""
    effects = app.apply(app.open_store(state_file), events.AtomFailed(atom=atom, reason=reason, at=app.now()))
    said, following, steps = f"{atom} has failed", "other choices", ["aot status"]
    for effect in effects:
        if isinstance(effect, Retry):
            said, following = f"{said}: attempt {effect.attempts} of {effect.allowed}", "retry"
            steps = [f"aot atom start {atom}"]
        elif isinstance(effect, Backtracked):
            said, following = f"{said}; {effect.or_group} goes on with {effect.selected}", "backtrack"
            steps = [f"aot atom start {effect.selected}"]
        elif isinstance(effect, Exhausted):
            said, following = f"{said}; nothing is left to try for it", "exhausted"
            steps = ["aot status", f"aot log {atom}"]
    report_done(as_json=as_json, data={"atom_id": atom, "next": following}, said=said, steps=steps)


@command.command(
    epilog='Example: aot atom decompose A2 --child "lexer" --child "grammar" --reason "too large for one attempt"'
)
@state_file_option
@json_option
@click.argument("parent", shell_complete=complete_atom)
@click.option("--child", "children", multiple=True, required=True, help="A child's description (repeatable).")
@click.option("--reason", required=True, help="Why it is split.")
def decompose(state_file: str | None, as_json: bool, parent: str, children: tuple[str, ...], reason: str) -> None:
    """Split PARENT into children. They take over its dependencies; it resolves by itself when all of them have."""
    parts = tuple(events.Child(description=text) for text in children)
    event = events.AtomDecomposed(parent=parent, children=parts, reason=reason)
    effects = app.apply(app.open_store(state_file), event)
    ids = [atom for effect in effects if isinstance(effect, Added) for atom in effect.atoms]
    report_done(
        as_json=as_json,
        data={"parent": parent, "children": ids},
        said=f"{parent} was split into {', '.join(ids)}",
        steps=["aot graph"],
    )


@command.command("list", epilog="Example: aot atom list --ready")
@state_file_option
@json_option
@click.option("--ready", is_flag=True, help="Only what can be started now, best first.")
def list_(state_file: str | None, as_json: bool, ready: bool) -> None:
    """List the atoms."""
    loop = app.open_store(state_file).load()
    graph = Graph(loop)
    atoms = [graph.atoms[one] for one in graph.ready()] if ready else loop.atoms
    if as_json:
        say_json({"atoms": to_data(list(atoms)), "executable_atoms": graph.ready()})
        return
    width = max((len(atom.id) for atom in atoms), default=0)
    for atom in atoms:
        symbol, colour = LOOKS[atom.status]
        note = click.style(f"  {_note(graph, atom)}", dim=True) if _note(graph, atom) else ""
        click.echo(f"{click.style(symbol, fg=colour)} {atom.id:<{width}}  {atom.description}{note}")
    if not atoms:
        click.echo("None can be started now.")


@command.command(epilog="Example: aot atom show A2")
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
def show(state_file: str | None, as_json: bool, atom: str) -> None:
    """Show everything about ATOM."""
    loop = app.open_store(state_file).load()
    graph = Graph(loop)
    found = graph.atoms.get(atom)
    if found is None:
        raise AotError(f"there is no atom {atom}", hint=f"There are: {', '.join(list(graph.atoms)[:20])}")
    facts = _facts(loop, graph, found)
    if as_json:
        say_json(facts)
        return
    click.echo(f"{heading(found.id)}  {found.description}")
    for name, value in facts.items():
        if name not in ("id", "description") and value not in (None, [], {}):
            shown = ", ".join(str(one) for one in value) if isinstance(value, list) else value
            click.echo(f"  {name:<12} {shown}")
    if facts["ready"]:
        say_next(f"aot atom start {atom}")


def _facts(loop: Loop, graph: Graph, atom: Atom) -> dict[str, Any]:
    return {
        **to_data(atom),
        "ready": atom.id in graph.ready(),
        "not_ready": graph.why_not_ready(atom.id) if atom.status == "pending" else None,
        "required": atom.id in graph.required,
        "needed_by": sorted(graph.consumers.get(atom.id, ()), key=lambda one: graph.position[one]),
        "children": list(graph.children_of.get(atom.id, ())),
        "parents": list(graph.parents_of.get(atom.id, ())),
        "binding": to_data(loop.bindings.get(atom.id)),
        "failures": [entry.reason for entry in loop.trail if entry.type == "failure" and entry.atom == atom.id],
    }


def _note(graph: Graph, atom: Atom) -> str:
    if atom.status != "pending":
        return ""
    if atom.attempts:
        return f"{graph.why_not_ready(atom.id) or 'ready'}, {counted(atom.attempts, 'failed attempt')}"
    return graph.why_not_ready(atom.id) or "ready"
