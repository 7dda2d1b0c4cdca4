"""Shows a file's commands and asks whether they may be run; `--yes` is the answer of whoever cannot be asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from aotloop.app import Permit
from aotloop.cli.foreign import visible
from aotloop.cli.output import tell
from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.errors import NotTrusted, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust import is_trusted, trust

if TYPE_CHECKING:
    from aotloop.config import Config


def require_consent(store: Store, *, yes: bool) -> Permit:
    """Returns only when the file, as it is then, holds no command that was not accepted.

    The file may change again before anything is run; so the permit that is returned looks at what is about to be run.
    """
    accepted: list[str] = []
    while not (is_trusted(store.path, commands := commands_of(store.load())) or commands == accepted):
        if not yes:
            ask(store, commands)
        accept(store, commands)
        accepted = commands  # the file may have changed while we asked: what it holds now is what will be run
    return permit_only(commands)


def consent_of(store: Store, permit: Permit) -> Callable[[Loop], bool]:
    """Whether all commands of a loop were accepted: before it began, or since then by a command of the user's."""

    def is_accepted(loop: Loop) -> bool:
        commands = commands_of(loop)
        if is_trusted(store.path, commands):
            return True
        try:
            permit(commands)
        except NotTrusted:
            return False
        return True

    return is_accepted


def require_config_consent(config: Config, *, yes: bool) -> None:
    """A configuration comes with its repository; what it would have us run or hand out is shown like commands are."""
    if config.source is not None:
        require_acceptance(str(config.source), config.powers, "asks for this:", yes=yes)


def require_acceptance(path: str, powers: Sequence[str], what: str, *, yes: bool) -> None:
    """Asked once, and again when they are others. `what`: the end of a sentence about the file; they follow."""
    if is_trusted(path, powers):
        return
    if not yes:
        _ask(path, powers, what)
    _remember(path, powers)


def permit_only(accepted: Sequence[str]) -> Permit:
    def permit(commands: list[str]) -> None:
        if not set(commands) <= set(accepted):
            raise NotTrusted(
                "the commands of this file changed before they were run, so they were not",
                hint="Look at them, and try again.",
            )

    return permit


def accept(store: Store, commands: Sequence[str]) -> None:
    _remember(store.path, commands)


def _remember(path: str, commands: Sequence[str]) -> None:
    """A home that cannot be written to, as in some containers, costs the memory, not the command."""
    try:
        trust(path, commands)
    except Unavailable as error:
        click.echo(f"aot: {visible(error.message)}\n     {error.hint}", err=True)


def accept_own(store: Store, before: Loop, command: str) -> None:
    """A command the user typed needs no question, if all others of the file were accepted before."""
    commands = commands_of(store.load())
    others = commands_of(before)
    if is_trusted(store.path, others) and set(commands) <= {*others, command}:
        accept(store, commands)


def ask(store: Store, commands: Sequence[str]) -> None:
    """Raises NotTrusted unless a person, asked on a terminal, accepts them."""
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
        click.echo("Run them, now and until they change? [y/N] ", err=True, nl=False)
        answer = sys.stdin.readline()
    finally:
        if not answer.endswith("\n"):  # Ctrl-C or Ctrl-D left the cursor in our line
            click.echo(err=True)
    if answer.strip().lower() not in ("y", "yes"):
        raise NotTrusted("nothing was run: you did not accept the commands")
