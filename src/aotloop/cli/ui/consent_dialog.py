"""Shows the commands of a file and asks a person whether they may run; `--yes` answers instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from aotloop.app.loops import Permit
from aotloop.app.preflight.consent import ask_acceptance, ask_consent
from aotloop.cli.ui.output import tell
from aotloop.errors import NotTrusted, Unavailable
from aotloop.statefile.store import Store
from aotloop.text.sanitize import visible

if TYPE_CHECKING:
    from aotloop.config.schema import Config


def require_consent(store: Store, *, yes: bool) -> Permit:
    return ask_consent(store, None if yes else partial(ask, store), tell_unkept)


def require_config_consent(config: Config, *, yes: bool) -> None:
    """A configuration comes with its repository; what it would run or hand out is shown as commands are."""
    if config.source is not None:
        require_acceptance(str(config.source), config.permissions, "asks for these permissions:", yes=yes)


def require_acceptance(path: str, permissions: Sequence[str], what: str, *, yes: bool) -> None:
    """`what`: the end of a sentence about the file; the permissions follow it."""
    ask_acceptance(path, permissions, None if yes else lambda asked: _ask(path, asked, what), tell_unkept)


def tell_unkept(error: Unavailable) -> None:
    """An acceptance could not be kept, so the person is asked again the next time."""
    click.echo(f"aot: {visible(error.message)}\n     {error.hint}", err=True)


def ask(store: Store, commands: Sequence[str]) -> None:
    """Raises NotTrusted unless a person on a terminal accepts them."""
    _ask(store.path, commands, "would run these commands on your machine:")


def _ask(path: str, commands: Sequence[str], what: str) -> None:
    tell(f"{visible(path)} {what}", err=True)
    for command in commands:
        first, *others = command.rstrip("\n").split("\n")
        click.echo(f"  {click.style('$', fg='yellow')} {visible(first)}", err=True)
        for line in others:
            click.echo(f"  {click.style('>', fg='yellow')} {visible(line)}", err=True)
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        raise NotTrusted(
            "the commands of this file have not been accepted yet",
            hint="Read them; then add --yes to accept them.",
        )
    answer = ""
    try:
        click.echo("Accept them, now and until they change? [y/N] ", err=True, nl=False)
        answer = sys.stdin.readline()
    finally:
        if not answer.endswith("\n"):  # after Ctrl-C or Ctrl-D the cursor is still in our line
            click.echo(err=True)
    if answer.strip().lower() not in ("y", "yes"):
        raise NotTrusted("nothing was run: you did not accept the commands")
