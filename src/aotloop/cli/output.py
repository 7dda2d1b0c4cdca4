"""How results, next steps and JSON reach the terminal: results on standard output, the rest on standard error."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec
from rich.cells import cell_len

from aotloop.cli.foreign import wrapped

SYMBOLS = {True: ("✔", "green"), False: ("✘", "red"), None: ("?", "yellow")}
LEAST_ROOM = 24
"""Columns. Where a hanging indent would leave less for the text, it gives way."""


def say_json(value: Any) -> None:
    try:
        written = msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError:  # a file's name need not be valid UTF-8
        import json  # noqa: PLC0415

        written = json.dumps(msgspec.to_builtins(value), indent=2).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(written + b"\n")
    sys.stdout.buffer.flush()


def tell(text: str, *, head: str = "", note: str = "", dim: bool = False, err: bool = False) -> None:
    """One entry: `head` (styled, never broken), text and a dim note; on a terminal, broken between words."""
    lines, noted = _laid_out(text, note, cell_len(click.unstyle(head)), err=err)
    for number, line in enumerate(lines):
        before, _, after = line.partition("\0") if number == noted else (line, "", "")
        plain = number < noted or (number == noted and before)
        shown = click.style(before, dim=dim) if plain else click.style(before, dim=True)
        begin = head if number == 0 else " " * _indent(head, err=err)
        click.echo(f"{begin}{shown}{click.style(after, dim=True) if after else ''}", err=err)
