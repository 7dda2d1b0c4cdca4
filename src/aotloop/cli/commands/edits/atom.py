"""`aot atom start`, `resolve` and `fail`: they record what happens to an atom."""

from __future__ import annotations

import click

from aotloop.app.atoms import start_atom
from aotloop.app.failure import Failure, fail_atom
from aotloop.app.loops import known_atom, open_store, refuse_while_run
from aotloop.app.preflight.consent import permit_only
from aotloop.app.resolution import may_run_checks, resolve_atom
from aotloop.cli.commands.edits.atom_growth import add, decompose
from aotloop.cli.commands.edits.atom_views import list_, show
from aotloop.cli.ui.consent_dialog import require_consent
from aotloop.cli.ui.failures import failures_in_words
from aotloop.cli.ui.loop_names import complete_begun, complete_ready
from aotloop.cli.ui.options import TEXT, WORDS, InOrder, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import named, report_done
from aotloop.core.effects import Added, Backtracked, Effect, Exhausted, Retry
from aotloop.core.graph.work_graph import Graph
from aotloop.text.sanitize import prose, visible


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
    store = open_store(state_file)
    refuse_while_run(store)
    known_atom(store.load(), atom)
    start_atom(store, atom)
    report_done(
        as_json=as_json,
        data={"atom_id": atom, "status": "in_progress"},
        message=f"{visible(atom)} is in progress",
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
@click.option("--summary", type=WORDS, help="What was achieved; later work sees only this text.")
@click.option("--artifact", "artifacts", type=TEXT, multiple=True, help="A file it made or changed (repeatable).")
def resolve(
    state_file: str | None, as_json: bool, yes: bool, atom: str, summary: str | None, artifacts: tuple[str, ...]
) -> None:
    """Mark ATOM as done. Its check, if it has one, is run and has to pass."""
    store = open_store(state_file)
    refuse_while_run(store)
    loop = store.load()
    known_atom(loop, atom)
    permit = require_consent(store, yes=yes) if may_run_checks(loop, atom) else permit_only(())
    resolution = resolve_atom(store, atom, summary, artifacts, permit=permit)
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
        message=prose(f"{atom} is resolved{also}"),
        steps=_after_resolving(Graph(store.load())),
    )


def _after_resolving(graph: Graph) -> list[str]:
    if not graph.unresolved():
        return ["aot verify"]
    return [f"aot atom start {named(ready)}" for ready in graph.ready()[:3]] or ["aot status"]


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
@click.option("--reason", type=WORDS, required=True, help="What went wrong; the next attempt reads it.")
def fail(state_file: str | None, as_json: bool, atom: str, reason: str) -> None:
    """Record that an attempt at ATOM failed: it is tried again, or another choice of its group takes over."""
    store = open_store(state_file)
    refuse_while_run(store)
    known_atom(store.load(), atom)
    came = fail_atom(store, atom, Failure(reason=reason, ends_turn=False))
    graph = Graph(store.load())
    often = failures_in_words(graph, graph.atoms[atom]) if atom in graph.atoms else ""
    following, message, steps = _after_failing(atom, often, came.effects)
    report_done(as_json=as_json, data={"atom_id": atom, "next": following}, message=visible(message), steps=steps)


def _after_failing(atom: str, often: str, effects: tuple[Effect, ...]) -> tuple[str, str, list[str]]:
    message = f"{atom} has failed"
    for effect in effects:
        match effect:
            case Retry():
                return "retry", f"{atom} {often}, and will be tried again", [f"aot atom start {named(atom)}"]
            case Backtracked():
                other = f"{message}; {effect.or_group} continues with {effect.selected}"
                return "backtrack", other, [f"aot atom start {named(effect.selected)}"]
            case Added():
                repair = effect.atoms[0]
                return "repair", f"{message}; {repair} will repair it", [f"aot atom start {named(repair)}"]
            case Exhausted():
                return "exhausted", f"{message}; nothing more can be tried", ["aot status", f"aot log {named(atom)}"]
    return "other choices", message, ["aot status"]


for later in (decompose, show, list_):
    command.add_command(later)
