"""`aot or`: OR groups."""

from __future__ import annotations

import click

from aotloop.app.atoms import select_choice
from aotloop.app.loops import known_group, open_store, refuse_while_run
from aotloop.cli.ui.loop_names import complete_choice, complete_group
from aotloop.cli.ui.options import WORDS, json_option, state_file_option
from aotloop.cli.ui.output import named, report_done
from aotloop.text.phrases import counted
from aotloop.text.sanitize import visible

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
@click.option("--reason", type=WORDS, required=True, help="Why you give up the selected choice; kept in the trail.")
def select(state_file: str | None, as_json: bool, group: str, choice: str, reason: str) -> None:
    """Give up GROUP's selected choice as failed and go on with CHOICE; what was built on the old one is reset."""
    store = open_store(state_file)
    refuse_while_run(store)
    known_group(store.load(), group)
    switched = select_choice(store, group, choice, reason)
    report_done(
        as_json=as_json,
        data={"or_group": group, "left": switched.left, "selected": choice, "reset": list(switched.reset)},
        message=visible(f"{group}: {switched.left} → {choice}; {counted(len(switched.reset), 'atom')} reset"),
        steps=[f"aot atom start {named(choice)}", "aot status"],
    )
