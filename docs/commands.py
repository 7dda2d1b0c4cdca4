"""Makes docs/cli.md from the commands: what each one does and takes, without shared options and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from aotloop.cli.main import COMMANDS, aot
from aotloop.cli.ship import Ship
from aotloop.cli.ship.feature import feature_command

HEAD = """\
# Commands
What does each command do? This page is made from the commands' own help. `aot COMMAND --help` also has examples, and
[errors](errors.md#exit-codes) the exit codes. These options mean the same wherever they are taken:

"""
SHARED = ("--state-file", "--json", "--yes")
_WIDTH = 110


def page() -> str:
    root = click.Context(aot, info_name="aot", terminal_width=_WIDTH, **aot.context_settings)
    found = list(_all(aot, root))
    shared = _shared([context for context, _ in found])
    listed = "".join(f"- `{names}`: {said}\n" for names, said in shared.values())
    return "\n".join([HEAD + listed, *(_section(context, level, shared) for context, level in found)])


def _all(group: click.Group, context: click.Context, level: str = "##") -> Iterator[tuple[click.Context, str]]:
    for name in COMMANDS if group is aot else group.commands:
        command = group.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield inner, level
        if isinstance(command, click.Group):
            yield from _all(command, inner, f"{level}#")


def _shared(contexts: list[click.Context]) -> dict[str, tuple[str, str]]:
    """How the first command that takes it tells of each shared option."""
    told: dict[str, tuple[str, str]] = {}
    for context in contexts:
        for option in context.command.params:
            record = option.get_help_record(context)
            if option.opts[-1] in SHARED and record is not None:
                told.setdefault(option.opts[-1], record)
    return {name: told[name] for name in SHARED}


def _section(context: click.Context, level: str, shared: dict[str, tuple[str, str]]) -> str:
    command, formatter = context.command, context.make_formatter()
    taken = taken_by(command)
    options = [one for one in taken.params if isinstance(one, click.Option)]
    told = [(one.opts[-1], record) for one in options if (record := one.get_help_record(context)) is not None]
    own = [record for name, record in told if record != shared.get(name)]
    others = [name for name, record in told if record == shared.get(name)]
    command.format_help_text(context, formatter)
    if own:
        with formatter.section("Options"):
            formatter.write_dl(own)
    usage = " ".join([context.command_path, *taken.collect_usage_pieces(context)])
    said = re.sub(r"\n *(Exit codes|Examples):.*", "", formatter.getvalue(), flags=re.DOTALL)
    also = f"Also: {', '.join(f'`{name}`' for name in others)}.\n" if others else ""
    return f"{level} `{context.command_path}`\n\n```text\n{usage}\n{said.rstrip()}\n```\n{also}"


def taken_by(command: click.Command) -> click.Command:
    """The command that takes the options: `aot ship` without a command of its own begins a feature."""
    return feature_command if isinstance(command, Ship) else command
