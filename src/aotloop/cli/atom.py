"""`aot atom`: the atoms of the loop, one by one; here, what becomes of them."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.atom_growth import add, decompose
from aotloop.cli.atom_views import list_, show
from aotloop.cli.consent import permit_only, require_consent
from aotloop.cli.failures import failures_in_words
from aotloop.cli.foreign import prose, visible
from aotloop.cli.names import complete_begun, complete_ready, known_atom
from aotloop.cli.options import TEXT, WORDS, InOrder, json_option, state_file_option, yes_option
from aotloop.cli.output import named, report_done
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Effect, Exhausted, Retry
from aotloop.core.graph import Graph
from aotloop.core.model import Loop


@click.group(
    "atom",
    cls=InOrder,
    epilog="""\b
Examples:
  aot atom add "Write the parser" --depends-on A1
  aot atom start A2
  aot atom resolve A2 --summary "parser with tests"
""",
)
def command() -> None:
    """Add, start, resolve, fail, decompose and show atoms."""


command.add_command(add)


@command.command(
    short_help="Mark an atom as being worked on.",
    epilog="""\b
Examples:
  aot atom start A2
""",
)
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_ready)
def start(state_file: str | None, as_json: bool, atom: str) -> None:
    """Mark ATOM as being worked on; refused unless everything it waits for is resolved."""
    store = app.open_store(state_file)
    app.refuse_while_run(store)
    known_atom(store.load(), atom)
    app.apply(store, events.AtomStarted(atom=atom))
    report_done(
        as_json=as_json,
        data={"atom_id": atom, "status": "in_progress"},
        said=f"{visible(atom)} is in progress",
        steps=[f'aot atom resolve {named(atom)} --summary "…"', f'aot atom fail {named(atom)} --reason "…"'],
    )


@command.command(
    short_help="Mark an atom as done.",
    epilog="""\b
Examples:
  aot atom resolve A2 --summary "parser with tests" --artifact src/parser.py
""",
)
@state_file_option
@json_option
@yes_option
@click.argument("atom", shell_complete=complete_begun)
@click.option("--summary", type=WORDS, help="What was achieved; all that later work gets to see of it.")
@click.option("--artifact", "artifacts", type=TEXT, multiple=True, help="A file it made or changed (repeatable).")
def resolve(
    state_file: str | None, as_json: bool, yes: bool, atom: str, summary: str | None, artifacts: tuple[str, ...]
) -> None:
    """Mark ATOM as done. Its check, if it has one, is run and has to pass."""
    store = app.open_store(state_file)
    app.refuse_while_run(store)
    loop = store.load()
    known_atom(loop, atom)
    permit = require_consent(store, yes=yes) if _may_run_checks(loop, atom) else permit_only(())
    resolution = app.resolve_atom(store, atom, summary, artifacts, permit=permit)
    also = "".join(f"; {parent} with it" for parent in resolution.auto_resolved)
    also += "".join(f"; but {reason}" for reason in resolution.unverified.values())
    report_done(
        as_json=as_json,
        data={
            "atom_id": atom,
            "status": "resolved",
            "auto_resolved": list(resolution.auto_resolved),
            "unverified": resolution.unverified,
        },
        said=prose(f"{atom} is resolved{also}"),
        steps=_after_resolving(Graph(store.load())),
    )


def _may_run_checks(loop: Loop, atom: str) -> bool:
    """Its check, or that of a decomposed atom which this may be the last part of."""
    asked = {atom, *(split.parent for split in loop.decompositions)}
    return any(one.check is not None or one.covers for one in loop.atoms if one.id in asked)


def _after_resolving(graph: Graph) -> list[str]:
    if not graph.unresolved():
        return ["aot verify"]
    return [f"aot atom start {named(one)}" for one in graph.ready()[:3]] or ["aot status"]


@command.command(
    short_help="Record that an attempt at an atom failed.",
    epilog="""\b
Examples:
  aot atom fail A2 --reason "the grammar is ambiguous"
""",
)
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_begun)
@click.option("--reason", type=WORDS, required=True, help="What went wrong; the next attempt will know it.")
def fail(state_file: str | None, as_json: bool, atom: str, reason: str) -> None:
    """Record that an attempt at ATOM failed: it is tried again, or another choice of its group takes over."""
    store = app.open_store(state_file)
    app.refuse_while_run(store)
    known_atom(store.load(), atom)
    effects = app.apply(store, events.AtomFailed(atom=atom, reason=reason, at=app.now()))
    graph = Graph(store.load())
    often = failures_in_words(graph, graph.atoms[atom]) if atom in graph.atoms else ""
    following, said, steps = _after_failing(atom, often, effects)
    report_done(as_json=as_json, data={"atom_id": atom, "next": following}, said=visible(said), steps=steps)


def _after_failing(atom: str, often: str, effects: list[Effect]) -> tuple[str, str, list[str]]:
    said = f"{atom} has failed"
    for effect in effects:
        match effect:
            case Retry():
                return "retry", f"{atom} {often}, and is tried again", [f"aot atom start {named(atom)}"]
            case Backtracked():
                other = f"{said}; {effect.or_group} goes on with {effect.selected}"
                return "backtrack", other, [f"aot atom start {named(effect.selected)}"]
            case Added():
                mending = effect.atoms[0]
                return "repair", f"{said}; {mending} is to mend that", [f"aot atom start {named(mending)}"]
            case Exhausted():
                return "exhausted", f"{said}; nothing is left to try for it", ["aot status", f"aot log {named(atom)}"]
    return "other choices", said, ["aot status"]


for later in (decompose, show, list_):
    command.add_command(later)
