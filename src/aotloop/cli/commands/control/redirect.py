"""`aot redirect`: it changes the direction of a loop, by a dialogue or by flags; then the loop continues."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from aotloop.app.loops import open_store
from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.transaction import Applied, redirect
from aotloop.cli.redirect.dialogue import converse
from aotloop.cli.redirect.flags import changes_of, flags, is_any
from aotloop.cli.redirect.loop_summary import in_words, next_steps
from aotloop.cli.ui.consent_dialog import ask, tell_unkept
from aotloop.cli.ui.options import WORDS, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import report_done, tell
from aotloop.cli.ui.prompts import is_interactive
from aotloop.clock import now
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.commands import commands_in, commands_of
from aotloop.core.model import Loop
from aotloop.statefile.lease import holder_of, lease
from aotloop.statefile.store import Store
from aotloop.statefile.yaml.emitter import to_data
from aotloop.text.sanitize import prose
from aotloop.trust.accepted_commands import is_trusted
from aotloop.trust.person import refuse_agents


@click.command(
    "redirect",
    epilog="""\b
Examples:
  aot redirect                                       ask what should change
  aot redirect --set max_iterations=40 --retry A3
  aot redirect --add "Write the migration" --after A2 --reason "the schema changed"
  aot redirect --choose token_method=A4_alt
  aot redirect --goal "Users can log in" --command "make test" --command "make lint"
""",
)
@state_file_option
@json_option
@yes_option
@flags
@click.option("--reason", type=WORDS, help="The reason, in your words; kept in the log.")
@click.pass_context
def command(
    ctx: click.Context, /, state_file: str | None, as_json: bool, yes: bool, reason: str | None, **given: Any
) -> None:
    """Interrupt the running work, change the direction, and let the loop continue.

    Without flags, on a terminal, a dialogue shows the state of the loop and asks what should change. Running agents end
    at once, and the loop waits until you leave the dialogue. With flags, all changes are made together, or none.
    """
    refuse_agents("only a person changes its direction")
    store = open_store(state_file)
    if not is_any(given):
        if as_json or not is_interactive():
            raise click.UsageError(_what_can_be_said(ctx, given))
        converse(store)
        return
    loop = store.load()
    changes = changes_of(given, loop, reason)
    if given["base_case"] is not None:
        changes = _with_consent(store, loop, changes, yes=yes)
    with lease(store.path, "redirect", since=now()):
        applied = redirect(store, changes, on_unkept=tell_unkept)
    _report(store, applied, as_json=as_json)


def _what_can_be_said(ctx: click.Context, given: dict[str, Any]) -> str:
    names = [param.opts[0] for param in ctx.command.params if param.name in given]
    return f"Say what should change: {', '.join(names)}. On a terminal, without --json, a dialogue asks you."


def _with_consent(store: Store, loop: Loop, changes: Changes, *, yes: bool) -> Changes:
    """The commands of a file were not typed here, so they are shown; unless all have to be shown later anyway."""
    if changes.base_case is None:
        return changes
    known = commands_of(loop)
    commands = [text for text in commands_in(base_case_tree(changes.base_case)) if text not in known]
    if commands and not yes and is_trusted(store.path, known):
        ask(store, commands)
    return replace(changes, commands=(*changes.commands, *commands))


def _report(store: Store, applied: Applied, *, as_json: bool) -> None:
    runner = holder_of(store.path)
    if not as_json:
        for line in applied.difference:
            tell(prose(line), head="  ")
    report_done(
        as_json=as_json,
        data={
            "corrections": to_data(list(applied.corrections)),
            "added": applied.added,
            "undone": list(applied.undone),
            "difference": list(applied.difference),
            "runner": runner.pid if runner is not None else None,
        },
        message=prose(in_words(applied)),
        steps=next_steps(store),
    )
