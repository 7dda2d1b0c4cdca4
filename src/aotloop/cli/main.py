"""The entry point: the table of commands; a command is imported only when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from aotloop.cli.error_handler import end_at_once, guarded, may_colour, settle_signals, settle_streams

GROUPS: dict[str, dict[str, str]] = {
    "Agree on the work": {
        "init": "Make a commented starting file.",
        "align": "Agree on the objective, in a dialogue or from files.",
        "validate": "Look for mistakes in the state file.",
        "gate": "Say whether the loop may start, and which items already hold.",
    },
    "Run it": {
        "run": "Run the loop until its base case holds, or say why not.",
        "pause": "Start nothing new for now; what runs goes on.",
        "resume": "End a pause.",
        "stop": "Stop the loop; nothing is lost.",
        "redirect": "Interrupt the running work and change the direction.",
        "proposal": "Show corrections that sessions propose; accept or dismiss them.",
        "confirm": "Confirm or reject items that only a person can judge.",
        "verify": "Run the base case and record the verdict.",
    },
    "Understand it": {
        "status": "Show objective, progress and next steps.",
        "watch": "Watch a run from another terminal.",
        "serve": "Show all loops of this machine in a browser, and steer them.",
        "log": "Tell what happened, one line for each thing.",
        "show": "Show an atom or an attempt: prompt, transcript, diff, cost.",
        "diff": "Print what an attempt changed.",
        "graph": "Draw the work graph.",
        "report": "Write one file that tells everything, for others to read.",
    },
    "Change it by hand": {
        "undo": "Take back what a run or an atom merged, as reverts.",
        "atom": "Add, start, resolve, fail, decompose and show atoms.",
        "or": "Switch an OR group to another choice.",
        "prompt": "Print the prompt that an agent would get for an atom.",
    },
    "Ship a feature": {
        "ship": "Take a feature from idea to shipped, with receipts.",
    },
    "Set up and clean up": {
        "demo": "Watch a loop at work, from start to end, in a folder of its own.",
        "doctor": "Find missing programs and other problems.",
        "plugin": "Install the plugin for Claude Code and Codex.",
        "notify": "Say which services get messages, and test them.",
        "worker": "Make attempts for loops on other machines.",
        "dev-cluster": "Start a server and some workers here, to try other machines.",
        "mcp": "Serve loops to an agent's client (MCP).",
        "clean": "Remove what runs left: kept attempts, worktrees, processes.",
        "completion": "Print the completion script of a shell.",
    },
}
"""In the usual order of use."""

_FOLDERS = {
    "Agree on the work": "agreement",
    "Run it": "control",
    "Understand it": "views",
    "Change it by hand": "edits",
    "Set up and clean up": "setup",
}
"""The folder of `cli.commands` with the commands of a group: one module for each command."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

_MODULES = {
    "dev-cluster": "commands.setup.dev_cluster",
    "or": "commands.edits.choice",
    "prompt": "commands.views.prompt",
    "proposal": "commands.control.session_proposals",
    "ship": "ship",
}
"""Commands whose module has a different name or place."""

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
        command: click.Command = import_module(f"aotloop.cli.{_module_of(cmd_name)}").command
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
        widest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{widest}}", summary) for name, summary in commands.items()])


def _module_of(command: str) -> str:
    if command in _MODULES:
        return _MODULES[command]
    group = next(title for title, commands in GROUPS.items() if command in commands)
    return f"commands.{_FOLDERS[group]}.{command}"


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
    end_at_once(guarded(run, sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    try:
        with aot.make_context("aot", list(arguments), color=None if may_colour() else False) as context:
            aot.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    return 0
