"""`aot ship`: it begins a feature or continues the present one; subcommands act on that feature."""

from __future__ import annotations

import click

from aotloop.cli.ship.approval import advance, approve, cancel, stop
from aotloop.cli.ship.feature import EXAMPLES, feature_command
from aotloop.cli.ship.phase_status import status
from aotloop.cli.ship.receipt import checkpoint, receipt
from aotloop.cli.ui.options import InOrder

_GO = "go"
"""Inserted before the arguments if they name no command. A person does not type it."""


class Ship(InOrder):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_command = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_command else [_GO, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == _GO:
            return self.name, feature_command, args[1:]
        return super().resolve_command(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [FEATURE]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]…", prefix="   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        feature_command.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group("ship", cls=Ship, epilog=EXAMPLES)
def command() -> None:
    """Take a feature from idea to shipped: brainstorm, plan, acceptance tests, work, review, fixes, tests, release.

    Each phase needs a receipt that verifies: an artifact, a commit, and the proof of the phase. With FEATURE, a feature
    begins. Without it, aot continues the present feature, also after a crash, and raises the given limits. Before the
    work, a person is asked whether the acceptance tests are right.
    """


for subcommand in (status, approve, receipt, checkpoint, advance, stop, cancel):
    command.add_command(subcommand)
