"""`aot init`: a starting file that explains itself."""

from __future__ import annotations

from typing import BinaryIO

import click

from aotloop.cli.consent import accept
from aotloop.cli.foreign import visible
from aotloop.cli.options import TEXT, WORDS, json_option, state_file_option
from aotloop.cli.output import named, report_done, shortest
from aotloop.cli.starting_file import Alignment, starting_file
from aotloop.core.commands import commands_of
from aotloop.statefile.locate import new_state_file
from aotloop.statefile.store import Store


@click.command(
    "init",
    epilog="""\b
Examples:
  aot init
  aot init --goal "Users can log in" --command "make test" --command "make lint"
  aot init --format legacy --command "npm test" --prompt request.md
""",
)
@state_file_option
@json_option
@click.option("--goal", type=TEXT, default="", help="What is to be achieved, in one sentence.")
@click.option("--background-intent", type=TEXT, default="", help="Why it is wanted.")
@click.option("--deliverables", type=TEXT, default="", help="What should be there in the end.")
@click.option("--definition-of-done", type=TEXT, default="", help="How a person would tell that it is done.")
@click.option("--run", type=WORDS, help="A command that does the first atom.")
@click.option(
    "--command", "commands", type=WORDS, multiple=True, help="A command that succeeds when it is done (repeatable)."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["checklist", "legacy"]),
    default="checklist",
    show_default=True,
    help="A base case of many items, or of one.",
)
@click.option("--prompt", type=click.File("rb"), help="The original request, kept below the YAML; - reads it.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def command(
    state_file: str | None,
    as_json: bool,
    goal: str,
    run: str | None,
    commands: tuple[str, ...],
    form: str,
    prompt: BinaryIO | None,
    force: bool,
    **alignment: str,
) -> None:
    """Make a commented starting file, to be filled in and checked with `aot gate`."""
    if form == "legacy" and len(commands) > 1:
        raise click.UsageError("a legacy base case is one single command; use the checklist format for more")
    path = new_state_file(state_file)
    request = _read(prompt) if prompt is not None else goal
    store = Store(path)
    agreed = Alignment(**alignment)
    text = starting_file(goal, commands, legacy=form == "legacy", request=request, alignment=agreed, run=run)
    store.create(text, overwrite=force)
    accept(store, commands_of(store.load()))  # they are the user's own words
    report_done(
        as_json=as_json,
        data={"state_file": path, "format": form},
        said=f"made {visible(shortest(path))}",
        steps=_next_steps(path, is_complete=bool(goal) and all(alignment.values())),
    )


def _next_steps(path: str, *, is_complete: bool) -> list[str]:
    if is_complete:
        return ["aot atom add", "aot gate", "aot run"]
    return [f"fill in {named(shortest(path))}", "aot validate", "aot gate"]


def _read(prompt: BinaryIO) -> str:
    try:
        return prompt.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.BadParameter("it is not valid UTF-8.", param_hint="'--prompt'") from None
