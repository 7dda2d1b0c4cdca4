"""Results of checks at the terminal: items, whole reports, and the result of the base case before the work."""

from __future__ import annotations

import re

import click

from aotloop.checks.results import CheckResult, Report
from aotloop.cli.ui.output import faint, mark, tell
from aotloop.exit_codes import DONE, FAILED, UNDECIDED
from aotloop.text.sanitize import prose
from aotloop.text.shorten import terminal_lines

LINES_SHOWN = 12

_NOT_RUN = (126, 127)
"""Exit codes of a shell that could not run a command, or did not find it."""


def code_of_report(report: Report) -> int:
    return DONE if report.passed else UNDECIDED if report.undecided else FAILED


def tell_item(item: CheckResult, depth: int = 0) -> None:
    symbol = faint("-") if item.skipped else mark(item.passed)
    tell(f"{prose(item.name)}: {prose(item.evidence)}", head=f"{'  ' * depth}{symbol} ")
    for child in item.children:
        tell_item(child, depth + 1)
    if item.passed is False and item.output and item.output.strip():
        for line in terminal_lines(item.output, LINES_SHOWN):
            click.echo(faint(f"{'  ' * depth}  │ {line}"))


def already_holding(report: Report | None) -> list[str]:
    return [_doubt(name, result) for name, result in report.holding.items()] if report is not None else []


def _doubt(name: str, result: CheckResult) -> str:
    if result.kind == "not_command":
        return f"{name}: already holds, because `{result.value}` fails now; the check may be inverted"
    if result.kind == "not_file":
        return f"{name}: already holds, because {result.value} does not exist now; the check may be inverted"
    return f"{name}: already holds; it may prove nothing"


def unable_to_run(report: Report | None) -> list[str]:
    """A missing command fails now and, unless the work makes it, will always fail."""
    failing = report.failing.items() if report is not None else ()
    return [f"{name}: {result.evidence}" for name, result in failing if _is_missing(result)]


def _is_missing(result: CheckResult) -> bool:
    module = re.search(r"-m ([\w.]+)", result.value or "")
    is_without_module = module is not None and f"No module named {module[1]}" in (result.output or "")
    return result.exit_code in _NOT_RUN or is_without_module


def seen(report: Report | None, unrun: str) -> str:
    """`unrun`: the reason why there is no report."""
    if report is None:
        return f"The base case was not run: {unrun}."
    if report.passed:
        return "The base case already holds: there is nothing to do, or it proves nothing."
    if report.undecided:
        return f"The base case is undecided now; these items have to be judged: {prose(', '.join(report.waiting))}."
    if unable_to_run(report):
        return "The base case fails now. These commands could not run; that is right only if the work brings them:"
    return "The base case fails now, as it should before the work."
