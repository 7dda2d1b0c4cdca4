"""Results of checks at the terminal: one item with all that is below it, and the exit code of a whole report."""

from __future__ import annotations

import click

from aotloop.checks.results import CheckResult, Report
from aotloop.cli.ui.output import faint, mark, tell
from aotloop.exit_codes import DONE, FAILED, UNDECIDED
from aotloop.text.output_tail import terminal_lines
from aotloop.text.sanitize import prose

LINES_SHOWN = 12


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
