"""What all commands share: their options, and how results, next steps and JSON reach the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec

F = TypeVar("F", bound=Callable[..., Any])

SYMBOLS = {True: ("✔", "green"), False: ("✘", "red"), None: ("?", "yellow")}


def state_file_option(function: F) -> F:
    return click.option(
        "--state-file",
        metavar="FILE",
        help="The loop's state file [default: $AOT_STATE_FILE, or .claude/aot-loop-state.md here or above].",
    )(function)


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def say_json(value: Any) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")
    sys.stdout.buffer.flush()


def say_next(*steps: str) -> None:
    """Suggestions go to standard error: they are for the person, not for the pipe."""
    if steps:
        click.echo(click.style("Next: ", dim=True) + "  ·  ".join(steps), err=True)


def heading(text: str) -> str:
    return click.style(text, bold=True)


def mark(passed: bool | None) -> str:
    symbol, colour = SYMBOLS[passed]
    return click.style(symbol, fg=colour)


def bullet_list(lines: Sequence[str], *, fg: str | None = None) -> None:
    for line in lines:
        click.echo(f"  {click.style('•', fg=fg)} {line}")


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def report_done(*, as_json: bool, data: dict[str, Any], said: str, steps: Sequence[str] = ()) -> None:
    """The end of a command that changed something."""
    if as_json:
        say_json({"success": True, **data})
    else:
        click.echo(f"{mark(True)} {said}")
        say_next(*steps)
