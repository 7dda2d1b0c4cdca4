"""Corrections that are typed as one line, with the flags of `aot redirect`; and the beginnings of such lines.

A line without flags, such as `max_iterations=40`, sets a constraint.
"""

from __future__ import annotations

import shlex
from typing import Any

import click
import msgspec

from aotloop.app.redirect.changes import Changes
from aotloop.cli.redirect.flags import changes_of, flags, is_any
from aotloop.cli.ui.options import WORDS
from aotloop.core.model import Loop
from aotloop.errors import AotError


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    label: str
    line: str
    """What is typed for the person; `{atom}` is the selected atom."""

    def typed(self, atom: str | None) -> str:
        return self.line.replace("{atom}", shlex.quote(atom) if atom is not None else "")


BEGINNINGS = (
    Beginning(key="1", label="the goal; the search starts again", line='--goal "'),
    Beginning(key="2", label="why it is wanted", line='--background-intent "'),
    Beginning(key="3", label="what should exist at the end", line='--deliverables "'),
    Beginning(key="4", label="how a person can see that it is done", line='--definition-of-done "'),
    Beginning(key="5", label="the commands that succeed when it is done", line='--command "'),
    Beginning(key="6", label="files that agents must not change", line='--protect "'),
    Beginning(key="7", label="files that agents may change again", line='--unprotect "'),
    Beginning(key="8", label="the effort, or a limit", line="--set max_iterations="),
    Beginning(key="a", label="add an atom; --after, --in-group, --run and --id describe it", line='--add "'),
    Beginning(key="x", label="remove an atom", line="--remove {atom}"),
    Beginning(key="c", label="select the choice of an OR group, GROUP=ATOM", line="--choose ={atom}"),
    Beginning(key="w", label="describe a result again; work based on it is repeated", line='--summary {atom}="'),
    Beginning(key="R", label="let an atom start again, with more attempts", line="--retry {atom}"),
    Beginning(key="e", label="accept the changes in the file", line="--accept"),
)


@click.command("redirect", add_help_option=False)
@flags
@click.option("--reason", type=WORDS)
def _redirect(**given: Any) -> None:
    """Only its parser is used."""


def changes_in_line(line: str, loop: Loop) -> Changes:
    """Raises AotError if the line is not understood; `loop` is only asked for its names."""
    try:
        words = shlex.split(line)
        if words and not words[0].startswith("-"):
            words = ["--set", *words]
        with _redirect.make_context("redirect", words) as context:  # closes the file that a flag opened
            given = context.params
        reason = given.pop("reason")
        if given["base_case"] is not None:
            raise AotError("a file with a base case is read only by `aot redirect --base-case FILE`")
        if not is_any(given):
            raise AotError("the line says nothing that should change", hint="`?` in the live view lists the keys.")
        return changes_of(given, loop, reason)
    except click.UsageError as error:
        raise AotError(error.format_message()) from error
    except ValueError as error:  # a quote without its end
        raise AotError(f"the line is not complete: {str(error).lower()}") from error
