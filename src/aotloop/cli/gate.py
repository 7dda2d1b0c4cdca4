"""`aot gate`: may the loop start? And, "red first": what of the base case holds before any work is done?"""

from __future__ import annotations

from typing import Any

import click

from aotloop import app
from aotloop.cli.consent import require_consent, yes_option
from aotloop.cli.output import bullet_list, json_option, mark, say_json, say_next, state_file_option
from aotloop.cli.progress import progress_lines
from aotloop.core.gate import Gate
from aotloop.errors import NotTrusted
from aotloop.statefile.store import Store
from aotloop.verify.results import CheckResult, Report


@click.command(
    "gate",
    epilog="""\b
Examples:
  aot gate                 ask before running the base case
  aot gate --yes --json    in scripts
  aot gate --no-run        only look at the file
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--no-run", is_flag=True, help="Do not run the base case.")
@click.option("--timeout", type=float, default=app.CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, yes: bool, no_run: bool, timeout: float) -> None:
    """Say whether the loop may start: agreed objective, valid file, waiting to be started.

    Then the base case is run once. Before any work it should fail: an item that already holds proves nothing, or is
    the wrong way round. Exits with 0 if the loop may start, else with 1.
    """
    store = app.open_store(state_file)
    gate = app.gate(store)
    report, unrun = None, "the loop may not start yet"
    if gate.ready:
        report, unrun = _red_first(store, yes=yes, no_run=no_run, timeout=timeout)
    holding = _already_holding(report) if report is not None else []
    if as_json:
        say_json(_data(gate, report, holding))
    else:
        _tell(gate, report, holding, unrun)
    ctx.exit(0 if gate.ready else 1)


def _red_first(store: Store, *, yes: bool, no_run: bool, timeout: float) -> tuple[Report | None, str]:
    if no_run:
        return None, "as you asked"
    try:
        require_consent(store, store.load(), yes=yes)
    except NotTrusted:
        return None, "its commands have not been accepted; --yes accepts them"
    report, _ = app.verify(store, timeout=timeout, on_progress=progress_lines(), record=False)
    return report, ""


def _already_holding(report: Report) -> list[str]:
    return [_doubt(name, result) for name, result in report.holding.items()]


def _doubt(name: str, result: CheckResult) -> str:
    if result.kind == "not_command":
        return f"{name}: `{result.value}` already fails, as it should; is it the right way round?"
    return f"{name}: already holds; it may prove nothing"


def _data(gate: Gate, report: Report | None, holding: list[str]) -> dict[str, Any]:
    return {
        "ready": gate.ready,
        "missing": list(gate.missing),
        "status": gate.status,
        "warnings": list(gate.warnings),
        "base_case": None if report is None else report.as_data(),
        "already_holding": holding,
    }


def _tell(gate: Gate, report: Report | None, holding: list[str], unrun: str) -> None:
    click.echo(f"{mark(gate.ready)} {'ready to start' if gate.ready else 'not ready'} (status: {gate.status})")
    bullet_list([f"missing: {one}" for one in gate.missing], fg="red")
    bullet_list(gate.warnings, fg="yellow")
    if report is None:
        if gate.ready:
            click.echo(f"  The base case was not run: {unrun}.")
    elif report.passed:
        click.echo("  The base case already holds: there is nothing to do, or it proves nothing.")
    else:
        click.echo("  The base case fails now, as it should before the work.")
    bullet_list(holding, fg="yellow")
    if gate.ready:
        say_next("aot status", "aot graph")
    else:
        say_next("edit the file", "aot validate")
