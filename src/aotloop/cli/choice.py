"""`aot or`: OR groups."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.foreign import visible
from aotloop.cli.names import complete_choice, complete_group, known_group
from aotloop.cli.options import WORDS, json_option, state_file_option
from aotloop.cli.output import counted, named, report_done
from aotloop.core import events
from aotloop.core.effects import Backtracked

EXAMPLES = """\b
Examples:
  aot or select token_method A4_alt --reason "no JWT library for this platform"
"""


@click.group("or", epilog=EXAMPLES)
def command() -> None:
    """Switch an OR group to another choice."""


@command.command(epilog=EXAMPLES, short_help="Give up a group's selected choice for another.")
@state_file_option
@json_option
@click.argument("group", shell_complete=complete_group)
@click.argument("choice", shell_complete=complete_choice)
@click.option("--reason", type=WORDS, required=True, help="Why the selected choice is given up; kept in the trail.")
def select(state_file: str | None, as_json: bool, group: str, choice: str, reason: str) -> None:
    """Give up GROUP's selected choice as failed and go on with CHOICE; what was built on the old one is reset."""
    store = app.open_store(state_file)
    app.refuse_while_run(store)
    known_group(store.load(), group)
    effects = app.apply(store, events.BranchSwitched(or_group=group, choice=choice, reason=reason, at=app.now()))
    switched = next(effect for effect in effects if isinstance(effect, Backtracked))
    report_done(
        as_json=as_json,
        data={"or_group": group, "left": switched.left, "selected": choice, "reset": list(switched.reset)},
        said=visible(f"{group}: {switched.left} → {choice}; {counted(len(switched.reset), 'atom')} reset"),
        steps=[f"aot atom start {named(choice)}", "aot status"],
    )
