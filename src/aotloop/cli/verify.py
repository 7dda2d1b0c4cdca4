"""`aot verify`: the base case decides, not anybody's word."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.cli.consent import require_consent
from aotloop.cli.foreign import last_lines, prose
from aotloop.cli.judging import asking, recalling
from aotloop.cli.options import AMOUNT, json_option, state_file_option, yes_option
from aotloop.cli.output import faint, mark, say_json, say_next, tell
from aotloop.cli.progress import progress_line
from aotloop.verify.results import CheckResult, Report

PASSED, FAILED, UNDECIDED = 0, 1, 6
LINES_SHOWN = 12


@click.command(
    "verify",
    epilog="""\b
Examples:
  aot verify
  aot verify --timeout 600
  aot verify --judge               ask an agent about what no program decides
  aot verify --yes --json | jq .passed
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--timeout", type=AMOUNT, default=app.CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.option("--judge", is_flag=True, help="Ask the configured agent about items that have to be judged; it costs.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, yes: bool, timeout: float, judge: bool) -> None:
    """Run the base case in the project's folder and record the verdict in the state file.

    What agents judged of these very files counts; nobody is asked again, and without --judge nobody is asked at all.
    Exits with 0 if it holds, 1 if it does not, 6 if only judged items are open.
    """
    store = app.open_store(state_file)
    permit = require_consent(store, yes=yes)
    with asking(store, yes=yes) if judge else recalling(store) as judges, progress_line() as on_progress:
        done = app.verify(
            store,
            timeout=timeout,
            on_progress=on_progress,
            permit=permit,
            judge=lambda subject: app.remembered(subject, judges(subject)),
        )
    report: Report = done.report
    if done.unrecorded is not None:
        tell(f"the verdict was not recorded: {prose(done.unrecorded)}", err=True)
    if as_json:
        say_json(report.as_data())
    else:
        _tell(report)
    ctx.exit(PASSED if report.passed else UNDECIDED if report.undecided else FAILED)


def _tell(report: Report) -> None:
    for item in report.items:
        tell_item(item)
    if report.passed:
        click.echo(f"{mark(True)} the base case holds")
        say_next("aot status")
    elif report.undecided:
        tell(f"undecided: {prose(', '.join(report.waiting))}", head=f"{mark(None)} ")
        say_next("aot confirm", "aot status")
    else:
        tell(f"the base case does not hold: {prose(', '.join(report.failing))}", head=f"{mark(False)} ")
        say_next("mend what fails", "aot verify", "aot status")


def tell_item(item: CheckResult, depth: int = 0) -> None:
    symbol = faint("-") if item.skipped else mark(item.passed)
    tell(f"{prose(item.name)}: {prose(item.evidence)}", head=f"{'  ' * depth}{symbol} ")
    for child in item.children:
        tell_item(child, depth + 1)
    if item.passed is False and item.output and item.output.strip():
        for line in last_lines(item.output, LINES_SHOWN):
            click.echo(faint(f"{'  ' * depth}  │ {line}"))
