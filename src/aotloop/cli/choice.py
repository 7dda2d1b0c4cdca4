"""`aot or`: OR groups."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.names import complete_choice, complete_group
from aotloop.cli.output import counted, json_option, report_done, state_file_option
from aotloop.core import events
from aotloop.core.effects import Backtracked


@click.group("or")
def command() -> None:
    """Switch an OR group to another choice."""


@command.command(
    epilog="""\b
Examples:
  aot or select token_method A4_alt --reason "no JWT library for this platform"
"""
)
@state_file_option
@json_option
@click.argument("group", shell_complete=complete_group)
@click.argument("choice", shell_complete=complete_choice)
@click.option("--reason", required=True, help="Why the selected choice is given up; kept in the trail.")
def select(state_file: str | None, as_json: bool, group: str, choice: str, reason: str) -> None:
    """Give up GROUP's selected choice as failed and go on with CHOICE; what was built on the old one is reset."""
    store = app.open_store(state_file)
    effects = app.apply(store, events.BranchSwitched(or_group=group, choice=choice, reason=reason, at=app.now()))
    for effect in effects:
        if isinstance(effect, Backtracked):
            report_done(
                as_json=as_json,
                data={
                    "or_group": group,
                    "left": effect.left,
                    "selected": choice,
                    "reset": list(effect.reset),
                },
                said=f"{group}: {effect.left} → {choice}; {counted(len(effect.reset), 'atom')} reset",
                steps=[f"aot atom start {choice}", "aot status"],
            )
