"""`aot verify`: it runs the base case, which alone decides whether the work is done."""

from __future__ import annotations

import click

from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.verify import remembered, verify
from aotloop.checks.results import Report
from aotloop.cli.ui.check_results import code_of_report, tell_item
from aotloop.cli.ui.consent_dialog import require_consent
from aotloop.cli.ui.judge_offer import asking, recalling
from aotloop.cli.ui.options import AMOUNT, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import mark, say_json, say_next, tell
from aotloop.cli.ui.progress_line import progress_line
from aotloop.text.sanitize import prose


@click.command(
    "verify",
    epilog="""\b
Examples:
  aot verify
  aot verify --timeout 600
  aot verify --judge               ask an agent to judge what no program can
  aot verify --yes --json | jq .passed
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--timeout", type=AMOUNT, default=CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.option("--judge", is_flag=True, help="Ask the configured agent about items to be judged; this costs money.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, yes: bool, timeout: float, judge: bool) -> None:
    """Run the base case in the project's folder and record the verdict in the state file.

    Earlier judgements of agents about the same files count. Without --judge, no agent is asked.
    Exits with 0 if the base case holds, 1 if it does not, 6 if only items to be judged are open.
    """
    store = open_store(state_file)
    permit = require_consent(store, yes=yes)
    with asking(store, yes=yes) if judge else recalling(store) as judges, progress_line() as on_progress:
        done = verify(
            store,
            timeout=timeout,
            on_progress=on_progress,
            permit=permit,
            judge=lambda subject: remembered(subject, judges(subject)),
        )
    report: Report = done.report
    if done.unrecorded is not None:
        tell(f"the verdict was not recorded: {prose(done.unrecorded)}", err=True)
    if as_json:
        say_json(report.as_data())
    else:
        _tell(report)
    ctx.exit(code_of_report(report))


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
        say_next("fix the failing items", "aot verify", "aot status")
