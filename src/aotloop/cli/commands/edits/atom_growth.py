"""`aot atom add` and `aot atom decompose`: they add atoms to the work."""

from __future__ import annotations

import click

from aotloop.app.atoms import NewAtom, Part, add_atom, decompose_atom
from aotloop.app.loops import known_atom, open_store, refuse_while_run
from aotloop.app.preflight.consent import accept_typed
from aotloop.cli.ui.consent_dialog import tell_unkept
from aotloop.cli.ui.loop_names import complete_atom, complete_group
from aotloop.cli.ui.options import AMOUNT, WORDS, json_option, state_file_option
from aotloop.cli.ui.output import report_done
from aotloop.text.sanitize import prose, visible


@click.command(
    "add",
    epilog="""\b
Examples:
  aot atom add "Write the parser"
  aot atom add "Session tokens" --id A4_alt --depends-on A1 --or-group token_method
  aot atom add "Format the sources" --run "make format" --depends-on A2 --depends-on A3
  aot atom add "Write the manual" --covers "it is in the manual"
""",
)
@state_file_option
@json_option
@click.argument("description", type=WORDS)
@click.option("--id", "atom", type=WORDS, help="[default: the next free A<n>]")
@click.option("--depends-on", multiple=True, shell_complete=complete_atom, help="An atom it waits for (repeatable).")
@click.option(
    "--or-group",
    type=WORDS,
    shell_complete=complete_group,
    help="The OR group that it belongs to; created if it does not exist.",
)
@click.option("--run", type=WORDS, help="A command that does this atom, instead of an agent.")
@click.option("--covers", type=WORDS, multiple=True, help="An item of the base case it makes true (repeatable).")
@click.option("--estimate", type=AMOUNT, help="Minutes it will take.")
def add(
    state_file: str | None,
    as_json: bool,
    description: str,
    atom: str | None,
    depends_on: tuple[str, ...],
    or_group: str | None,
    run: str | None,
    covers: tuple[str, ...],
    estimate: float | None,
) -> None:
    """Add an atom."""
    store = open_store(state_file)
    before = store.load()
    needs = tuple(part for word in depends_on for part in word.split(",") if part)
    for needed in needs:
        known_atom(before, needed)
    new = NewAtom(
        atom=atom,
        description=description,
        depends_on=needs,
        or_group=or_group,
        run=run,
        covers=tuple(dict.fromkeys(covers)),
        estimate=estimate,
    )
    added = add_atom(store, new)
    if run is not None:
        accept_typed(store, before, run, tell_unkept)
    report_done(
        as_json=as_json,
        data={"atom_id": added, "depends_on": list(needs), "or_group": or_group},
        message=f"added {visible(added)}: {prose(description)}",
        steps=["aot graph", "aot run"],
    )


@click.command(
    "decompose",
    short_help="Split an atom into children.",
    epilog="""\b
Examples:
  aot atom decompose A2 --child "lexer" --child "grammar" --reason "too large for one attempt"
""",
)
@state_file_option
@json_option
@click.argument("parent", shell_complete=complete_atom)
@click.option(
    "--child", "children", type=WORDS, multiple=True, required=True, help="A child's description (repeatable)."
)
@click.option("--reason", type=WORDS, required=True, help="Why it is split.")
def decompose(state_file: str | None, as_json: bool, parent: str, children: tuple[str, ...], reason: str) -> None:
    """Split PARENT into children. They take over its dependencies; it resolves by itself when all of them have."""
    store = open_store(state_file)
    refuse_while_run(store)
    known_atom(store.load(), parent)
    ids = decompose_atom(store, parent, tuple(Part(description=text) for text in children), reason)
    report_done(
        as_json=as_json,
        data={"parent": parent, "children": list(ids)},
        message=f"{visible(parent)} was split into {', '.join(ids)}",
        steps=["aot graph", "aot run"],
    )
