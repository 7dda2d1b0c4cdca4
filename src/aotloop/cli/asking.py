"""Asks a person on a terminal; on standard error, so that standard output holds results only.

The end of input (Ctrl-D) raises EOFError: whoever asks knows what it means to leave there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from aotloop.cli.output import faint, tell


def somebody_is_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """One line, without the blanks around it; "" if there was nothing else."""
    while True:
        answer = _line(question)
        if answer.isprintable():
            return answer
        tell("That holds characters that cannot be seen (arrow keys make some). Once more:", err=True)


def _line(question: str) -> str:
    line = b""
    try:
        click.echo(f"{question} ", err=True, nl=False)
        line = sys.stdin.buffer.readline()
    finally:
        if not line.endswith(b"\n"):  # Ctrl-C or Ctrl-D left the cursor in our line
            click.echo(err=True)
    if not line:
        raise EOFError
    return line.decode("utf-8", "replace").strip()


def agrees(question: str) -> bool:
    return ask(f"{question} [y/N]").lower() in ("y", "yes")


def pick(question: str, names: Sequence[str], notes: Sequence[str]) -> str | None:
    """One of the names, by its number or its own letters; None: none of them. `notes` say what each is."""
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
        tell(f"There is no {answer}. Type a number from the list, or its name.", err=True)
