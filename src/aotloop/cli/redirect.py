"""`aot redirect`: changes the direction of a loop, in a dialogue or by flags; the loop goes on from there."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from aotloop import app
from aotloop.cli.asking import somebody_is_there
from aotloop.cli.consent import ask
from aotloop.cli.foreign import prose
from aotloop.cli.options import WORDS, json_option, state_file_option, yes_option
from aotloop.cli.output import report_done, tell
from aotloop.cli.redirecting.applying import Applied, apply
from aotloop.cli.redirecting.dialogue import converse
from aotloop.cli.redirecting.flags import flags, is_any, wishes_of
from aotloop.cli.redirecting.telling import in_words, next_steps
from aotloop.cli.redirecting.wishes import Wishes
from aotloop.core.checklist import base_case_tree
from aotloop.core.commands import commands_in, commands_of
from aotloop.core.model import Loop
from aotloop.statefile.emit import to_data
from aotloop.statefile.lease import holder_of, lease
from aotloop.statefile.store import Store
from aotloop.trust import is_trusted


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
@click.option("--reason", type=WORDS, help="Why, in your words; kept in the log.")
@click.pass_context
def command(
    ctx: click.Context, /, state_file: str | None, as_json: bool, yes: bool, reason: str | None, **given: Any
) -> None:
    """Interrupt what is under way, change the direction, and let the loop go on.

    Without a flag, on a terminal, a dialogue shows where the loop stands and asks what should change; running agents
    end at once, and nothing goes on before the dialogue is left. With flags, all changes are made at once, or none.
    """
    store = app.open_store(state_file)
    if not is_any(given):
        if as_json or not somebody_is_there():
            raise click.UsageError(_what_can_be_said(ctx, given))
        converse(store)
        return
    loop = store.load()
    wishes = wishes_of(given, loop, reason)
    if given["base_case"] is not None:
        wishes = _with_consent(store, loop, wishes, yes=yes)
    with lease(store.path, "redirect", since=app.now()):
        applied = apply(store, wishes)
    _report(store, applied, as_json=as_json)


def _what_can_be_said(ctx: click.Context, given: dict[str, Any]) -> str:
    names = [param.opts[0] for param in ctx.command.params if param.name in given]
    return f"Say what should change: {', '.join(names)}. Without --json, on a terminal, you are asked."


def _with_consent(store: Store, loop: Loop, wishes: Wishes, *, yes: bool) -> Wishes:
    """The commands of a file were not typed here, so they are shown; unless all have to be shown later anyway."""
    if wishes.base_case is None:
        return wishes
    known = commands_of(loop)
    commands = [one for one in commands_in(base_case_tree(wishes.base_case)) if one not in known]
    if commands and not yes and is_trusted(store.path, known):
        ask(store, commands)
    return replace(wishes, commands=(*wishes.commands, *commands))


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
        said=prose(in_words(applied)),
        steps=next_steps(store),
    )
