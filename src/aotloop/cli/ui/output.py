"""Writes results, next steps and JSON to the terminal: results to standard output, the rest to standard error."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec
from rich.cells import cell_len

from aotloop.errors import AotError
from aotloop.text.sanitize import visible

Style = Callable[[str], str]

SYMBOLS = {True: ("✔", "green"), False: ("✘", "red"), None: ("?", "yellow")}
LEAST_ROOM = 24
"""Columns. If a hanging indent would leave less room for the text, it is not used."""


def say_json(value: Any, indent: int = 2) -> None:
    """`indent` 0: on one line."""
    try:
        written = msgspec.json.format(msgspec.json.encode(value), indent=indent)
    except UnicodeEncodeError:  # a file name may be invalid UTF-8
        written = json.dumps(value, indent=indent or None).encode()
    sys.stdout.buffer.write(written + b"\n")
    sys.stdout.buffer.flush()


def tell(text: str, *, head: str = "", note: str = "", style: Style = str, err: bool = False) -> None:
    """Prints one entry: a styled head, text, and a faint note. On a terminal, lines wrap between words."""
    width = _width(err=err)
    taken = cell_len(click.unstyle(head))
    indent = taken if width - taken >= LEAST_ROOM else 4
    lines = wrapped(text, width - indent, width - taken)
    shown = [style(line) for line in lines]
    if note and (taken if len(lines) == 1 else indent) + cell_len(lines[-1]) + 2 + cell_len(note) <= width:
        shown[-1] += faint(f"  {note}")
    elif note:
        shown += [faint(line) for line in wrapped(note, width - indent)]
    for number, line in enumerate(shown):
        click.echo(f"{head if number == 0 else ' ' * indent}{line}", err=err)


def wrapped(text: str, room: int, first: int | None = None) -> list[str]:
    """Wraps between words; the first line may be shorter; the terminal wraps a word that is too long."""
    lines: list[list[str]] = []
    left = room if first is None else first
    for word in text.split(" "):
        taken = cell_len(word)
        if lines and taken < left:
            lines[-1].append(word)
            left -= taken + 1
        elif not lines:
            lines.append([word])
            left -= taken
        else:
            lines.append([word])
            left = room - taken
    return [" ".join(line) for line in lines]


def _width(*, err: bool) -> int:
    """Endless without a terminal: output in a pipe or a file is not wrapped."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return sys.maxsize
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or 80


def say_next(*steps: str) -> None:
    """Suggestions go to standard error: they are for the person, not for the pipe."""
    context = click.get_current_context(silent=True)
    state_file = context.params.get("state_file") if context is not None else None
    same = f" --state-file {named(state_file)}" if state_file else ""
    if steps:
        shown = [f"{step}{same}" if step.startswith("aot ") else step for step in steps]
        tell("  ·  ".join(shown), head=faint("Next: "), err=True)


def tell_problem(error: AotError) -> None:
    """About something that the command does without."""
    click.echo(f"aot: {visible(error.message)}" + (f"\n     {error.hint}" if error.hint else ""), err=True)


def named(*words: str) -> str:
    """The words of a suggested command, quoted for a shell."""
    return " ".join(shlex.quote(visible(word)) for word in words)


def shortest(path: str) -> str:
    """The path relative to the current folder or absolute, whichever is shorter."""
    return min(os.path.relpath(path), path, key=len)


def faint(text: str) -> str:
    return click.style(text, dim=True)


def heading(text: str) -> str:
    return click.style(text, bold=True)


def mark(passed: bool | None) -> str:
    symbol, colour = SYMBOLS[passed]
    return click.style(symbol, fg=colour)


def bullet_list(lines: Sequence[str], *, fg: str | None = None) -> None:
    for line in lines:
        tell(line, head=f"  {click.style('•', fg=fg)} ")


def report_done(*, as_json: bool, data: dict[str, Any], message: str, steps: Sequence[str] = ()) -> None:
    """Reports the result of a command that changed something."""
    if as_json:
        say_json({"success": True, **data})
    else:
        tell(message, head=f"{mark(True)} ")
        say_next(*steps)
