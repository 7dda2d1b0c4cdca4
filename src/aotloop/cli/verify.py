"""`aot verify`: the base case decides, not anybody's word."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.consent import require_consent, yes_option
from aotloop.cli.output import json_option, mark, say_json, say_next, state_file_option
from aotloop.cli.progress import progress_lines
from aotloop.verify.results import CheckResult, Report

PASSED, FAILED, UNDECIDED = 0, 1, 6


@click.command(
    "verify",
    epilog="""\b
Examples:
  aot verify
  aot verify --timeout 600
  aot verify --yes --json | jq .passed
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--timeout", type=float, default=app.CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, yes: bool, timeout: float) -> None:
    """Run the base case in the project's folder and record the verdict in the state file.

    Exits with 0 if it holds, 1 if it does not, 6 if only judged items are open.
    """
    store = app.open_store(state_file)
    require_consent(store, store.load(), yes=yes)
    report, _ = app.verify(store, timeout=timeout, on_progress=progress_lines())
    if as_json:
        say_json(report.as_data())
    else:
        _tell(report)
    ctx.exit(PASSED if report.passed else UNDECIDED if report.undecided else FAILED)


def _tell(report: Report) -> None:
    for item in report.items:
        _tell_item(item, depth=0)
    if report.passed:
        click.echo(f"{mark(True)} the base case holds")
    elif report.undecided:
        click.echo(f"{mark(None)} undecided: {', '.join(report.waiting)}")
        say_next("a judge or a person has to decide these items")
    else:
        click.echo(f"{mark(False)} the base case does not hold: {', '.join(report.failing)}")
        say_next("aot status")


def _tell_item(item: CheckResult, depth: int) -> None:
    symbol = click.style("-", dim=True) if item.skipped else mark(item.passed)
    click.echo(f"{'  ' * depth}{symbol} {item.name}: {item.evidence}")
    for child in item.children:
        _tell_item(child, depth + 1)
    if item.passed is False and item.output:
        for line in item.output.strip().splitlines()[-12:]:
            click.echo(click.style(f"{'  ' * depth}  │ {line}", dim=True))
