"""Shows a file's commands and asks whether they may be run; `--yes` is the answer of whoever cannot be asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.errors import NotTrusted
from aotloop.statefile.store import Store
from aotloop.trust import is_trusted, trust

F = TypeVar("F", bound=Callable[..., Any])


def yes_option(function: F) -> F:
    return click.option("--yes", is_flag=True, help="Accept the commands of the file without being asked.")(function)


def require_consent(store: Store, loop: Loop, *, yes: bool) -> None:
    commands = commands_of(loop)
    if is_trusted(store.path, commands):
        return
    if not yes:
        click.echo(f"{store.path} would run these commands on your machine:", err=True)
        for command in commands:
            click.echo(f"  {click.style('$', fg='yellow')} {printable(command)}", err=True)
        if not sys.stdin.isatty():
            raise NotTrusted(
                "the commands of this file have not been accepted yet",
                hint="Read them; then add --yes to accept them.",
            )
        click.confirm("Run them, now and until they change?", abort=True, err=True)
    trust(store.path, commands)


def printable(command: str) -> str:
    """With control characters made visible: what is accepted must be what is seen."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in command
    )
