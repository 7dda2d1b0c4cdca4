"""Asks a person on a terminal; on standard error, so that standard output contains only results.

The end of input (Ctrl-D) raises EOFError: the caller decides what it means there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from aotloop.cli.ui.output import faint, tell


def is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """One line, without blanks around it; "" if there was no other text."""
    while True:
        answer = _line(question)
        if answer.isprintable():
            return answer
        tell("The line contains invisible characters (for example from arrow keys). Type it again:", err=True)


def _line(question: str) -> str:
    line = b""
    try:
        click.echo(f"{question} ", err=True, nl=False)
        line = sys.stdin.buffer.readline()
    finally:
        if not line.endswith(b"\n"):  # after Ctrl-C or Ctrl-D the cursor is still in our line
            click.echo(err=True)
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()


def agrees(question: str) -> bool:
    return ask(f"{question} [y/N]").lower() in ("y", "yes")


def pick(question: str, names: Sequence[str], notes: Sequence[str]) -> str | None:
    """One of the names, chosen by its number or its letters; None: no choice. `notes` explain the names."""
    width = max(map(len, names))
    for number, (name, note) in enumerate(zip(names, notes, strict=True), start=1):
        tell(note, head=f"  {number:>2}  {name:<{width}}  ", err=True)
    while True:
        answer = ask(f"{question} {faint('(number; Enter: none)')}")
        if not answer:
            return None
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]
        tell(f"{answer} is not in the list. Type a number or a name from the list.", err=True)
