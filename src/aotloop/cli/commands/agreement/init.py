"""`aot init`: it writes a starting file with comments that explain it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import click
import msgspec

from aotloop.app.preflight.consent import accept
from aotloop.cli.ui.consent_dialog import tell_unkept
from aotloop.cli.ui.options import TEXT, WORDS, json_option, state_file_option
from aotloop.cli.ui.output import named, report_done, shortest
from aotloop.core.commands import commands_of
from aotloop.statefile.locate import new_state_file
from aotloop.statefile.store import Store
from aotloop.statefile.yaml.emitter import text
from aotloop.text.sanitize import visible


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
@click.option("--goal", type=TEXT, default="", help="What you want to achieve, in one sentence.")
@click.option("--background-intent", type=TEXT, default="", help="Why you want it.")
@click.option("--deliverables", type=TEXT, default="", help="What should exist at the end.")
@click.option("--definition-of-done", type=TEXT, default="", help="How a person can see that it is done.")
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
    help="A base case with many items, or with one.",
)
@click.option(
    "--prompt", type=click.File("rb"), help="The original request, kept below the YAML; - for standard input."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
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
    """Make a commented starting file; fill it in, then check it with `aot gate`."""
    if form == "legacy" and len(commands) > 1:
        raise click.UsageError("a legacy base case is one single command; use the checklist format for more")
    path = new_state_file(state_file)
    request = _read(prompt) if prompt is not None else goal
    store = Store(path)
    agreed = Alignment(**alignment)
    text = starting_file(goal, commands, legacy=form == "legacy", request=request, alignment=agreed, run=run)
    store.create(text, overwrite=force)
    accept(path, commands_of(store.load()), tell_unkept)  # they are the user's own words
    report_done(
        as_json=as_json,
        data={"state_file": path, "format": form},
        message=f"made {visible(shortest(path))}",
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
        raise click.BadParameter("the file is not valid UTF-8.", param_hint="'--prompt'") from None


_LEGACY = """\
  # When is it done? One check: command (exit code 0), file (exists) or assertion (judged, then confirmed).
  base_case:
    type: command
    value: {command}
"""

_CHECKLIST = """\
  # When is it done? Every item has to hold. Types: command, not_command, file, not_file, assertion, quality.
  # `group:` instead of `check:` holds items that must all pass, `any_of:` items of which one must.
  base_case:
    checklist:
{items}"""

_ITEM = """\
      - item: {name}
        check:
          type: command
          value: {command}
"""

_FILE = """\
---
objective:
  # What you want to achieve, in one sentence.
  goal: {goal}
{base_case}
  # Why you want it; what should exist at the end; how a person can see that it is done.
  background_intent: {background_intent}
  deliverables: {deliverables}
  definition_of_done: {definition_of_done}
  # `effort: low` or `effort: high` allows fewer or more attempts; `max_cost_usd: 20` limits the cost.
  constraints:
    max_parallel_agents: 3

# Written by aot; do not edit.
control:
  status: pending               # pending | running | stopped | completed
  iteration: 0
  stall_count: 0
  prev_pending_count: -1
  stop_requested: false
  stop_reason: null
  redirect_requested: false

# The work. Atoms wait for those they depend on; the others run in parallel.
# `run: "command"` lets a command do an atom; `or_group: name` makes it one of several alternatives;
# `covers: ["item"]` names items of the base case that decide whether the atom is done.
atoms:
  - id: A1
    description: {first}
    status: pending             # pending | in_progress | resolved
    depends_on: []
{run}
decompositions: []
or_groups: {{}}
bindings: {{}}
trail: []
corrections: []
---

# Original Prompt

{request}
"""


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be agreed before a loop may start, besides the goal."""

    background_intent: str = ""
    deliverables: str = ""
    definition_of_done: str = ""


def starting_file(
    goal: str,
    commands: Sequence[str],
    *,
    legacy: bool,
    request: str,
    alignment: Alignment = Alignment(),  # noqa: B008 - it is frozen
    run: str | None = None,
) -> bytes:
    """`run`: a command that does the first atom."""
    chosen = list(commands) or ["false  # replace this by a command that succeeds when it is done"]
    if legacy:
        base_case = _LEGACY.format(command=quoted(chosen[0]))
    else:
        items = [_ITEM.format(name=quoted(_name(command)), command=quoted(command)) for command in chosen]
        base_case = _CHECKLIST.format(items="".join(items))
    return _FILE.format(
        goal=quoted(goal),
        base_case=base_case.rstrip("\n"),
        first=quoted(goal or "First step"),
        run=f"    run: {quoted(run)}\n" if run is not None else "",
        **{name: quoted(getattr(alignment, name)) for name in Alignment.__struct_fields__},
        request=request.strip() or "(the original request, word for word)",
    ).encode()


def _name(command: str) -> str:
    return "Done" if command.startswith("false ") else f"`{command}` succeeds"


def quoted(value: str) -> str:
    """Always in quotes, so that an editor of the file can type anything between them."""
    written = text(value)
    return written if written.startswith('"') else f'"{written}"'
