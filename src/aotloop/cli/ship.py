"""`aot ship`: begins a feature, or goes on with the one there is; further words are commands about it."""

from __future__ import annotations

import click

from aotloop.cli.options import InOrder
from aotloop.cli.shipping.claiming import checkpoint, receipt
from aotloop.cli.shipping.deciding import advance, approve
from aotloop.cli.shipping.ending import cancel, stop
from aotloop.cli.shipping.going import EXAMPLES, going
from aotloop.cli.shipping.standing import status

_GO = "go"
"""Put before the words of whoever names no command; nobody has to write it."""


class Ship(InOrder):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_command = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_command else [_GO, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == _GO:
            return self.name, going, args[1:]
        return super().resolve_command(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] [FEATURE]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]…", prefix="   or: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        going.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group("ship", cls=Ship, epilog=EXAMPLES)
def command() -> None:
    """Take a feature from idea to shipped: brainstorm, plan, acceptance tests, work, review, fixes, tests, release.

    Each phase is left only with a receipt that verifies: an artifact, a commit, and what the phase has to prove. With
    FEATURE it begins; without, it goes on with the feature there is, also after a crash, and limits given then are
    raised. Before the work, a person is asked whether the acceptance tests are right.
    """


for one in (status, approve, receipt, checkpoint, advance, stop, cancel):
    command.add_command(one)
