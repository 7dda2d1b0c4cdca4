"""The only error boundary: expected errors become one or two lines and an exit code, bugs become a log to send."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from aotloop.errors import AotError

COMMANDS = {
    "init": "Make a commented starting file.",
    "validate": "Look for mistakes in the state file.",
    "gate": "Say whether the loop may start, and what already holds.",
    "status": "Show objective, progress and next steps.",
    "verify": "Run the base case and record the verdict.",
    "atom": "Add, start, resolve, fail, decompose and show atoms.",
    "or": "Switch an OR group to another choice.",
    "graph": "Draw the work graph.",
    "log": "Show what was selected, what failed and what was corrected.",
    "completion": "Print the completion script of a shell.",
}
"""In the order of their use. Each is a module of this package, imported when it is called."""

EXAMPLES = """\b
Examples:
  aot init --goal "All tests pass" --command "make test"
  aot gate && aot status
  aot verify --json
"""


class Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"aotloop.cli.{'choice' if cmd_name == 'or' else cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """From the table above, so that asking for help imports no command."""
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


def main() -> None:
    try:
        code = aot.main(standalone_mode=False, prog_name="aot", color=None if _may_colour() else False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("aot: interrupted", err=True)
        code = 130
    except BrokenPipeError:  # `aot log | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except AotError as error:
        code = _report(error)
    except Exception:  # noqa: BLE001 - the boundary
        code = _report_bug()
    sys.exit(code if isinstance(code, int) else 0)


def _may_colour() -> bool:
    return "NO_COLOR" not in os.environ


def _report(error: AotError) -> int:
    if "--json" in sys.argv:
        from aotloop.cli.output import say_json  # noqa: PLC0415

        say_json({"error": error.message, "hint": error.hint})
    click.echo(f"{click.style('aot:', fg='red', bold=True)} {error.message}", err=True)
    if error.hint:
        click.echo(f"     {error.hint}", err=True)
    return 1


def _report_bug() -> int:
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    with tempfile.NamedTemporaryFile("w", prefix="aot-bug-", suffix=".log", delete=False, encoding="utf-8") as log:
        log.write(f"arguments: {sys.argv[1:]}\npython: {sys.version}\n\n{traceback.format_exc()}")
    last: Any = traceback.format_exc().strip().splitlines()[-1]
    click.echo(f"aot: this is a bug: {last}", err=True)
    click.echo(f"     Please report it with {log.name}", err=True)
    return 1
