"""Options and argument types that commands share; invalid values are refused here as usage errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from aotloop.core.limits import seconds

F = TypeVar("F", bound=Callable[..., Any])


class Text(click.ParamType[str]):
    """Text in characters that a file can store."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail("the text is not valid UTF-8.", param, ctx)
        return text


class Words(Text):
    """Text that is not blank."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not text.strip():
            self.fail("the text is blank.", param, ctx)
        return text


class Amount(click.ParamType[float]):
    """A number of seconds or minutes: above zero, and finite."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            self.fail(f"{value!r} is not a number above 0.", param, ctx)
        return number


class Length(click.ParamType[str]):
    """A length of time, in the notation of the file."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            seconds(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a length of time; write e.g. 90s, 30m, 1h30m.", param, ctx)
        return str(value)


TEXT = Text()
DURATION = Length()
WORDS = Words()
AMOUNT = Amount()


class InOrder(click.Group):
    """Lists its commands in the order in which they were added, which is the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


def state_file_option(function: F) -> F:
    return click.option(
        "--state-file",
        type=click.Path(),
        metavar="FILE",
        help="The loop's state file [default: $AOT_STATE_FILE, or .claude/aot-loop-state.md here or above].",
    )(function)


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def yes_option(function: F) -> F:
    return click.option("--yes", is_flag=True, help="Accept the commands of the file without a question.")(function)
