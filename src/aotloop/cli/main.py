"""The entry point: the table of commands; a command is imported only when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from aotloop.cli.error_handler import guarded, may_colour, settle_signals, settle_streams

COMMANDS = {
    "init": "Make a commented starting file.",
    "align": "Agree on the objective, in a dialogue or from files.",
    "validate": "Look for mistakes in the state file.",
    "gate": "Say whether the loop may start, and which items already hold.",
    "run": "Run the loop until its base case holds, or say why not.",
    "watch": "Watch a run from another terminal.",
    "stop": "Stop the loop; nothing is lost.",
    "redirect": "Interrupt the running work and change the direction.",
    "confirm": "Confirm or reject items that only a person can judge.",
    "status": "Show objective, progress and next steps.",
    "verify": "Run the base case and record the verdict.",
    "atom": "Add, start, resolve, fail, decompose and show atoms.",
    "or": "Switch an OR group to another choice.",
    "prompt": "Print the prompt that an agent would get for an atom.",
    "graph": "Draw the work graph.",
    "log": "Show what was selected, what failed and what was corrected.",
    "ship": "Take a feature from idea to shipped, with receipts.",
    "plugin": "Install the plugin for Claude Code and Codex.",
    "doctor": "Find missing programs and other problems.",
    "clean": "Remove what runs left: kept attempts, worktrees, processes.",
    "demo": "Watch a loop at work, from start to end, in a folder of its own.",
    "completion": "Print the completion script of a shell.",
}
"""In the usual order of use. Each is a module of `cli.commands`."""

_HOMES = {"or": "commands.choice", "ship": "ship"}
"""Commands whose module has a different name."""

EXAMPLES = """\b
Examples:
  aot demo                      watch a loop at work
  aot align "All tests pass"    agree on the goal, and on what proves it
  aot run                       work until it holds, or say why it cannot
  aot verify --json
"""

COMPLETING = "_AOT_COMPLETE"
"""A shell's completion script sets this variable when it asks for completions."""


class Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"aotloop.cli.{_HOMES.get(cmd_name, f'commands.{cmd_name}')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from difflib import get_close_matches  # noqa: PLC0415 - only after a typing mistake

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Uses the table above, so that help imports no command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version  # noqa: PLC0415

        click.echo(f"aot {version('aotloop')}")
        ctx.exit()


@click.group(
    cls=Commands,
    help="Run coding agents in a loop that halts and converges.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def aot() -> None:
    pass


def main() -> NoReturn:
    settle_streams()
    settle_signals()
    if COMPLETING in os.environ:
        aot.main(prog_name="aot", complete_var=COMPLETING)
    sys.exit(guarded(run, sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    try:
        with aot.make_context("aot", list(arguments), color=None if may_colour() else False) as context:
            aot.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    return 0
